"""Whoever reads the log learns why an engine does what it does: the reason of every plan."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.engine.facts import ABSENT, DrainVerdict
from tests.support.engines import NamedBlueprint, a_child, a_generation, a_spec, a_status, drain_rules, some_facts
from tests.unit.engine.decide.test_phases import CLEANING, CREATING, DRAINING, SWITCHING, decide

FOREIGN = a_child("eng-g1", 1, owner="someone", spec={"replicas": 2})
GOING = a_child("eng-g1", 1, deleting=True, spec={"replicas": 2})
OLD = a_generation(0)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({}, "at rest", id="rest"),
        pytest.param({"facts": {"current": ABSENT}}, "new generation: the StatefulSet is gone", id="gone"),
        pytest.param(
            {"facts": {"current": a_generation(0, statefulset=FOREIGN)}},
            "new generation: its name is taken by another owner",
            id="taken",
        ),
        pytest.param({"blueprint": NamedBlueprint("the image")}, "new generation: the image", id="drift"),
        pytest.param(
            {"status": CREATING, "facts": {"current": a_generation(1, statefulset=FOREIGN)}},
            "new generation: the name is taken by another owner",
            id="taken-while-creating",
        ),
        pytest.param(
            {"status": CREATING, "facts": {"current": a_generation(1)}, "blueprint": NamedBlueprint("the image")},
            "new generation: abandoned, the image",
            id="abandoned",
        ),
        pytest.param(
            {"status": CREATING, "facts": {"current": a_generation(1, statefulset=GOING)}},
            "the StatefulSet is going away and will be made again",
            id="going",
        ),
        pytest.param(
            {"status": CREATING, "facts": {"current": a_generation(1, ready=1)}},
            "waiting for pods, 1 of 2 ready",
            id="waiting",
        ),
        pytest.param({"status": CREATING, "facts": {"current": a_generation(1)}}, "all pods are ready", id="ready"),
        pytest.param(
            {"status": SWITCHING, "facts": {"current": a_generation(1), "service_generation": 0}},
            "pointing queries at the new generation",
            id="pointing",
        ),
        pytest.param(
            {"status": SWITCHING, "facts": {"current": ABSENT}},
            "the new generation was lost before it served",
            id="lost",
        ),
        pytest.param(
            {"status": SWITCHING, "facts": {"current": a_generation(1), "active": OLD, "service_generation": 1}},
            "new generation serves",
            id="switched",
        ),
        pytest.param(
            {"status": a_status(phase="switching", active_generation=-1), "facts": {}},
            "first generation serves",
            id="first",
        ),
        pytest.param({"status": a_status(phase="draining")}, "nothing drains", id="nothing-drains"),
        pytest.param({"status": a_status(phase="cleaning")}, "nothing to clean", id="nothing-to-clean"),
        pytest.param({"status": CLEANING}, "deleting the old generation", id="cleaning"),
        pytest.param({"status": a_status(phase="newer")}, "phase 'newer' is not one of ours", id="unknown-phase"),
    ],
)
def test_why(fields: dict[str, Any], reason: str) -> None:
    facts: dict[str, Any] = fields.get("facts", {})
    plan = decide(**(fields | {"facts": some_facts(**facts)}))
    assert plan.reason == reason


@pytest.mark.parametrize(
    ("drain", "facts", "reason"),
    [
        pytest.param(drain_rules(is_skipped=True), {}, "the drain check is off", id="skipped"),
        pytest.param(drain_rules(), {"draining": ABSENT}, "the old generation is gone", id="gone"),
        pytest.param(drain_rules(), {"drain": DrainVerdict(is_drained=True)}, "no query is running", id="drained"),
        pytest.param(
            drain_rules(),
            {"drain": DrainVerdict(is_drained=False)},
            "generation 0 still runs queries",
            id="busy",
        ),
        pytest.param(
            drain_rules(timeout=timedelta(seconds=30)),
            {"drain": DrainVerdict(is_drained=False)},
            "drainTimeout 0:00:30 ended the wait for generation 0, which is deleted now:"
            " it still ran queries, or could not be asked, when it was last looked at",
            id="timed-out",
        ),
        pytest.param(
            drain_rules(timeout=timedelta(seconds=30), settle=timedelta(seconds=90)),
            {},
            "drainTimeout 0:00:30 ended the wait for generation 0, which is deleted now:"
            " nobody asked whether it runs queries, because the time of --drain-settle had not passed yet",
            id="timed-out-before-anybody-asked",
        ),
    ],
)
def test_why_a_drain_ends_or_not(drain: Any, facts: dict[str, Any], reason: str) -> None:
    seen = {"current": a_generation(1), "draining": OLD, "service_generation": 1} | facts
    assert decide(status=DRAINING, facts=some_facts(**seen), drain=drain, spec=a_spec()).reason == reason


def test_given_no_pods_to_forget_then_nobody_is_told_to_wait() -> None:
    facts = some_facts(current=a_generation(1), active=a_generation(0, total=0), service_generation=1)
    plan = decide(status=SWITCHING, facts=facts)
    assert (plan.status.phase, plan.waiting_for) == ("draining", "")
