from typing import Any

import pytest

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.decide.conditions import (
    active_facts,
    counted,
    instance_not_ready,
    instance_ready,
    ready_verdict,
    with_verdict,
)
from firebolt_operator.engine.facts import DrainVerdict, EngineFacts, GenerationFacts, PodCount
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


def test_a_ready_instance_is_called_so() -> None:
    found = Verdict(status="True", reason="InstanceReady", message="Referenced FireboltInstance is ready")
    assert instance_ready() == found


ROLLING = some_facts(current=a_generation(1, total=3, ready=1), active=a_generation(0, total=2, ready=2))


@pytest.mark.parametrize(("active", "generation"), [(0, ROLLING.active), (1, ROLLING.current)])
def test_the_generation_that_serves_is_the_one_that_the_new_status_names(
    active: int, generation: GenerationFacts
) -> None:
    assert active_facts(ROLLING, a_status(current_generation=1, active_generation=active)) is generation


@pytest.mark.parametrize(
    ("active", "total", "ready", "selector"),
    [
        pytest.param(-1, 0, 0, "", id="nothing-serves-yet"),
        pytest.param(0, 2, 2, "firebolt.io/engine=eng,firebolt.io/generation=0", id="the-old-one-serves"),
        pytest.param(1, 3, 1, "firebolt.io/engine=eng,firebolt.io/generation=1", id="the-new-one-serves"),
    ],
)
def test_the_pods_that_serve_are_counted(active: int, total: int, ready: int, selector: str) -> None:
    found = counted(a_status(current_generation=1, active_generation=active), ROLLING, "eng")
    assert (found.replicas, found.ready_replicas, found.selector) == (total, ready, selector)
