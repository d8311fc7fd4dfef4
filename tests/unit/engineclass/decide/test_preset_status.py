"""What a preset's status says."""

import msgspec
import pytest

from firebolt_operator.api.engine_preset import EnginePresetSpec, FireboltEnginePreset
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engineclass.decide.status import decide_preset_status
from firebolt_operator.refs import Manifest
from tests.support.engines import NOON

BAD: Manifest = {"spec": {"hostname": "x"}}


def a_preset(template: Manifest, *, is_deleting: bool = False) -> FireboltEnginePreset:
    return FireboltEnginePreset(
        metadata=ObjectMeta(
            name="firebolt", namespace="ns", generation=2, deletion_timestamp=NOON if is_deleting else None
        ),
        spec=msgspec.convert({"template": template}, EnginePresetSpec),
    )


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        pytest.param(
            a_preset({}),
            {"Ready": ("Admissible", "spec.template contains no operator-owned paths")},
            id="fit-for-use",
        ),
        pytest.param(
            a_preset(BAD),
            dict.fromkeys(
                ("Ready", "Stalled"),
                (
                    "OperatorOwnedFieldSet",
                    "spec.template.spec.hostname: Forbidden: hostname is owned by the operator",
                ),
            ),
            id="a-person-must-mend-it",
        ),
        pytest.param(
            a_preset(BAD, is_deleting=True),
            dict.fromkeys(
                ("Ready", "Reconciling"),
                (
                    "DeletionBlocked",
                    (
                        '3 FireboltEngine(s) in namespace "ns" consume FireboltEnginePreset "firebolt" as their ambient'
                        " overlay; delete those engines before deleting the Preset object"
                    ),
                ),
            ),
            id="a-deletion-waits-and-says-nothing-else",
        ),
    ],
)
def test_what_is_told(preset: FireboltEnginePreset, expected: dict[str, tuple[str, str]]) -> None:
    status = decide_preset_status(preset, 3, now=NOON)
    assert {each.type: (each.reason, each.message) for each in status.conditions} == expected
    assert (status.bound_engines, status.observed_generation) == (3, 2)
