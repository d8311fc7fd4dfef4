from typing import Any

import pytest

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.decide.conditions import instance_not_ready, ready_verdict, with_verdict
from firebolt_operator.engine.facts import DrainVerdict, EngineFacts, PodCount
from firebolt_operator.reconciling.verdicts import Verdict
from tests.support.engines import NOON, SECOND, a_generation, a_status, some_facts


def instance(status: str = "True") -> Condition:
    return Condition(
        type="InstanceReady",
        status="True" if status == "True" else "False",
        reason="InstanceReady",
        message="",
        last_transition_time=NOON,
    )


def a_ready_status(**fields: Any) -> EngineStatus:
    return a_status(**{"conditions": [instance()], **fields})


BUSY = some_facts(current=a_generation(0, pods=PodCount(total=2, ready=1, trouble="eng-g0-1: container engine: OOM")))
FAILING = some_facts(drain=DrainVerdict(is_drained=False, problem="drain probe failed on pod x (gen 0): no answer"))


@pytest.mark.parametrize(
    ("status", "facts", "reason", "message"),
    [
        pytest.param(
            a_ready_status(phase="draining"),
            FAILING,
            "DrainCheckFailing",
            "drain probe failed on pod x (gen 0): no answer",
            id="a-failing-drain-check-goes-first",
        ),
        pytest.param(
            a_status(conditions=[instance("False")]),
            some_facts(),
            "InstanceNotReady",
            "Referenced FireboltInstance is not ready",
            id="nothing-works-without-the-instance",
        ),
        pytest.param(
            a_status(),
            some_facts(),
            "InstanceNotReady",
            "Referenced FireboltInstance is not ready",
            id="not-looked-at-is-not-ready",
        ),
        pytest.param(
            a_ready_status(phase="stopped"),
            some_facts(),
            "Stopped",
            "Engine is stopped (spec.replicas is 0)",
            id="a-stop-is-meant",
        ),
        pytest.param(
            a_ready_status(phase="creating"),
            BUSY,
            "Rolling",
            "Engine is in creating phase; eng-g0-1: container engine: OOM",
            id="a-stuck-pod-speaks-for-itself",
        ),
        pytest.param(
            a_ready_status(phase="cleaning"),
            BUSY,
            "Rolling",
            "Engine is in cleaning phase",
            id="pods-that-serve-already-hold-nothing-up",
        ),
        pytest.param(
            a_ready_status(),
            BUSY,
            "PodsNotReady",
            "generation 0 has 1 of 2 pod(s) ready; eng-g0-1: container engine: OOM",
            id="ready-of-total",
        ),
        pytest.param(
            a_ready_status(),
            some_facts(current=a_generation(0, total=1)),
            "PodsNotReady",
            "generation 0 has 1 of 1 pod(s) ready",
            id="a-missing-pod-is-not-ready",
        ),
        pytest.param(
            a_ready_status(), some_facts(), "EngineReady", "Engine is serving traffic on generation 0", id="serving"
        ),
    ],
)
def test_ready(status: EngineStatus, facts: EngineFacts, reason: str, message: str) -> None:
    found = ready_verdict(status, facts, replicas=2)
    status_word = "True" if reason == "EngineReady" else "False"
    assert (found.reason, found.message, found.status) == (reason, message, status_word)


def test_given_a_wait_then_the_rolling_message_says_until_when() -> None:
    found = ready_verdict(a_ready_status(phase="draining"), some_facts(), 2, "old generation stays until noon")
    assert found.message == "Engine is in draining phase; old generation stays until noon"


def test_the_transition_time_moves_only_when_the_status_flips() -> None:
    down = Verdict(status="False", reason="Rolling", message="one")
    first = with_verdict(a_status(), "Ready", down, spec_generation=1, now=NOON)
    later = NOON + 60 * SECOND
    same = with_verdict(first, "Ready", instance_not_ready("two"), spec_generation=2, now=later)
    flipped = with_verdict(
        same, "Ready", Verdict(status="True", reason="EngineReady", message=""), spec_generation=2, now=later
    )
    assert [(each.last_transition_time, each.reason, each.observed_generation) for each in same.conditions] == [
        (NOON, "InstanceNotReady", 2)
    ]
    assert [each.last_transition_time for each in flipped.conditions] == [later]
