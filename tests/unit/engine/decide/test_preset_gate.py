"""With which preset may an engine be rendered?"""

from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.engine.decide.gates import Refusal
from firebolt_operator.engine.decide.preset_gate import preset_gate
from firebolt_operator.engine.inputs import PresetInfo
from firebolt_operator.refs import Manifest

BAD: Manifest = {"spec": {"hostname": "x"}}
OWNED = "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"


def a_preset(template: Manifest | None = None, *conditions: Manifest, generation: int = 3) -> FireboltEnginePreset:
    document: dict[str, Any] = {
        "metadata": {"name": "firebolt", "namespace": "ns", "generation": generation},
        "spec": {"template": template or {}},
        "status": {"conditions": list(conditions)},
    }
    return msgspec.convert(document, FireboltEnginePreset)


def ready(status: str, reason: str, generation: int = 3) -> Manifest:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": "as judged",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": generation,
    }


def test_without_a_preset_an_engine_goes_on_unless_it_requires_one() -> None:
    assert preset_gate("ns", None, is_required=False) is None
    refused = preset_gate("ns", None, is_required=True)
    assert isinstance(refused, Refusal)
    assert (refused.ready.status, refused.ready.reason, refused.ready.message) == (
        "False",
        "FireboltEnginePresetRequired",
        'FireboltEnginePreset is required in this namespace: namespace "ns" has no FireboltEnginePreset',
    )


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(a_preset(), id="nobody-has-judged-it-yet"),
        pytest.param(a_preset({}, ready("True", "Admissible")), id="judged-and-fit"),
        pytest.param(a_preset({}, ready("False", "DeletionBlocked")), id="waiting-for-its-deletion"),
        pytest.param(a_preset({}, ready("False", "OperatorOwnedFieldSet", 2)), id="mended-since"),
    ],
)
@pytest.mark.parametrize("is_required", [True, False])
def test_a_preset_that_is_fit_for_use_is_taken(preset: FireboltEnginePreset, *, is_required: bool) -> None:
    found = preset_gate("ns", preset, is_required=is_required)
    assert isinstance(found, PresetInfo)
    assert (found.name, found.generation) == ("firebolt", 3)


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        pytest.param(a_preset(BAD), OWNED, id="nobody-has-judged-it-yet"),
        pytest.param(a_preset(BAD, ready("True", "Admissible", 2)), OWNED, id="broken-since"),
        pytest.param(a_preset(BAD, ready("False", "OperatorOwnedFieldSet")), "as judged", id="judged"),
    ],
)
@pytest.mark.parametrize("is_required", [True, False])
def test_a_preset_that_is_not_fit_blocks_whether_required_or_not(
    preset: FireboltEnginePreset, words: str, *, is_required: bool
) -> None:
    refused = preset_gate("ns", preset, is_required=is_required)
    assert isinstance(refused, Refusal)
    assert (refused.ready.reason, refused.ready.message) == (
        "FireboltEnginePresetUnready",
        f'FireboltEnginePreset is not Ready: "firebolt" in namespace "ns": {words}',
    )
