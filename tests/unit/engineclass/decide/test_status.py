"""What a class's status says: Ready, Stalled and Reconciling, and when that is news."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine_class import EngineClassSpec, EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engineclass.decide.status import decide_status, is_news
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Manifest
from tests.support.engines import NOON

FEW = ResourceBounds(replicas=3)
BAD_TEMPLATE: Manifest = {"spec": {"hostname": "x"}}
FORBIDDEN = "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
FORM = "is not a duration; write it like 30s or 1h30m"


def a_class(
    *, is_deleting: bool = False, status: EngineClassStatus | None = None, generation: int = 2, **spec: Any
) -> FireboltEngineClass:
    deleted_at = NOON if is_deleting else None
    return FireboltEngineClass(
        metadata=ObjectMeta(name="big", namespace="ns", generation=generation, deletion_timestamp=deleted_at),
        spec=msgspec.convert({"template": {}} | spec, EngineClassSpec),
        status=status or EngineClassStatus(),
    )


def told(status: EngineClassStatus) -> dict[str, tuple[str, str]]:
    return {each.type: (each.status, each.reason) for each in status.conditions}


ADMISSIBLE = {"Ready": ("True", "Admissible")}


@pytest.mark.parametrize(
    ("engine_class", "expected"),
    [
        pytest.param(a_class(), ADMISSIBLE, id="fit-for-use"),
        pytest.param(
            a_class(template=BAD_TEMPLATE),
            {"Ready": ("False", "OperatorOwnedFieldSet"), "Stalled": ("True", "OperatorOwnedFieldSet")},
            id="a-person-must-mend-the-template",
        ),
        pytest.param(
            a_class(is_deleting=True, template=BAD_TEMPLATE, drainTimeout="soon"),
            {"Ready": ("False", "DeletionBlocked"), "Reconciling": ("True", "DeletionBlocked")},
            id="a-deletion-waits-and-says-nothing-else",
        ),
        pytest.param(
            a_class(autoStop={"activeReplicas": 4}),
            ADMISSIBLE | {"Stalled": ("True", "SpecInvalid")},
            id="more-nodes-than-an-engine-may-have",
        ),
        pytest.param(a_class(autoStop={"activeReplicas": 3}), ADMISSIBLE, id="as-many-as-an-engine-may-have"),
        pytest.param(
            a_class(drainTimeout="soon"),
            ADMISSIBLE | {"Stalled": ("True", "SpecInvalid")},
            id="a-malformed-duration-leaves-the-class-usable",
        ),
    ],
)
def test_conditions(engine_class: FireboltEngineClass, expected: dict[str, tuple[str, str]]) -> None:
    status = decide_status(engine_class, 1, bounds=FEW, now=NOON)
    assert told(status) == expected
    assert {status.observed_generation, *(each.observed_generation for each in status.conditions)} == {2}


def test_a_class_that_is_fit_for_use_says_what_that_means() -> None:
    (ready,) = decide_status(a_class(), 1, bounds=FEW, now=NOON).conditions
    assert ready.message == "spec.template contains no operator-owned paths"


def test_malformed_durations_are_named_together() -> None:
    auto_stop = {"activeReplicas": 1, "idleTimeout": "30 minutes"}
    status = decide_status(
        a_class(autoStop=auto_stop, progressDeadline="x", template=BAD_TEMPLATE), 0, bounds=FEW, now=NOON
    )
    stalled, ready = (find_condition(status.conditions, kind) for kind in ("Stalled", "Ready"))
    assert stalled is not None
    assert stalled.message == (f'spec.progressDeadline: "x" {FORM}; spec.autoStop.idleTimeout: "30 minutes" {FORM}')
    assert ready is not None
    assert ready.message == FORBIDDEN


def test_what_is_mended_is_taken_back() -> None:
    bad = decide_status(a_class(template=BAD_TEMPLATE), 0, bounds=FEW, now=NOON)
    assert told(decide_status(a_class(status=bad, generation=3), 0, bounds=FEW, now=NOON)) == ADMISSIBLE


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(a_class(), False, id="the-same-again"),
        pytest.param(a_class(generation=3), True, id="an-edit-is-observed"),
        pytest.param(a_class(drainTimeout="soon"), True, id="ready-is-the-same-and-yet-it-stalls"),
    ],
)
def test_news(changed: FireboltEngineClass, expected: bool) -> None:
    before = decide_status(a_class(), 0, bounds=FEW, now=NOON)
    after = decide_status(changed, 0, bounds=FEW, now=NOON + timedelta(hours=1))
    assert is_news(before, after) is expected
