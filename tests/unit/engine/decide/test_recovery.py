"""Objects that are lost in the middle of a rollout: nothing else of it may be lost for them."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.engine.decide.losses import must_be_rendered
from firebolt_operator.engine.facts import ABSENT, DrainVerdict, EngineFacts, GenerationFacts
from firebolt_operator.engine.plan import AT_ONCE, PODS_WAIT
from firebolt_operator.engine.views import Child
from tests.support.engines import (
    UID,
    NamedBlueprint,
    a_child,
    a_generation,
    a_spec,
    a_status,
    drain_rules,
    some_facts,
)
from tests.unit.engine.decide.test_phases import CLEANING, CREATING, DRAINING, SWITCHING, decide, ensured, routed_to

IDLE = DrainVerdict(is_drained=True)
SPEC = {"replicas": 2}
DELETING = a_child("eng-g1", 1, deleting=True, spec=SPEC)
FOREIGN = a_child("eng-g1", 1, owner="someone", spec=SPEC)


def draining(active: GenerationFacts, **fields: Any) -> EngineFacts:
    facts = {"current": active, "draining": a_generation(0), "drain": IDLE, "service_generation": 1}
    return some_facts(**(facts | fields))


class NeverCompared(NamedBlueprint):
    def drift(self, statefulset: Child) -> str | None:
        raise AssertionError(f"{statefulset} was compared")


class TestTheService:
    @pytest.mark.parametrize(
        ("status", "serves"),
        [
            pytest.param(a_status(), "0", id="stable"),
            pytest.param(CREATING, "0", id="creating"),
            pytest.param(SWITCHING, "1", id="switching"),
            pytest.param(DRAINING, "1", id="draining"),
            pytest.param(CLEANING, "1", id="cleaning"),
        ],
    )
    @pytest.mark.parametrize("selected", [-1, 7], ids=["deleted", "edited"])
    def test_is_restored_in_every_phase_and_leads_to_what_serves(self, status: Any, selected: int, serves: str) -> None:
        generation = a_generation(status.current_generation)
        facts = some_facts(current=generation, draining=a_generation(0), service_generation=selected)
        plan = decide(status=status, facts=facts)
        # Whatever else is made may be refused: nobody who is served waits for that.
        assert ensured(plan)[0] == "eng-service"
        assert routed_to(plan) == serves

    def test_given_the_first_generation_is_given_up_then_it_follows_once_that_is_written_down(self) -> None:
        status = a_status(phase="creating", active_generation=-1)
        given_up = some_facts(current=a_generation(0, ready=0), service_generation=0)
        plan = decide(status=status, facts=given_up, blueprint=NamedBlueprint("x"))
        assert (plan.status.current_generation, plan.ensures) == (1, ())
        plan = decide(status=plan.status, facts=some_facts(current=ABSENT, service_generation=0))
        assert (ensured(plan)[-1], routed_to(plan)) == ("eng-service", "1")

    def test_given_drift_at_rest_then_it_is_restored_before_anything_else_begins(self) -> None:
        plan = decide(facts=some_facts(service_generation=-1), blueprint=NamedBlueprint("x"))
        assert (plan.status.phase, ensured(plan), routed_to(plan)) == ("creating", ["eng-service"], "0")


LOST = [
    pytest.param(ABSENT, id="all-is-gone"),
    pytest.param(a_generation(1, statefulset=None, total=0), id="the-statefulset-is-gone"),
    pytest.param(a_generation(1, statefulset=DELETING), id="the-statefulset-is-going"),
    pytest.param(a_generation(1, ready=0), id="no-pod-is-ready"),
    pytest.param(a_generation(1, total=0), id="there-are-no-pods"),
]


class TestDraining:
    @pytest.mark.parametrize("active", LOST)
    @pytest.mark.parametrize(
        "rules",
        [
            pytest.param(drain_rules(), id="drained"),
            pytest.param(drain_rules(timeout=timedelta(seconds=1)), id="timed-out"),
            pytest.param(drain_rules(is_skipped=True), id="no-drain-check"),
        ],
    )
    def test_does_not_end_while_nobody_else_could_serve(self, active: GenerationFacts, rules: Any) -> None:
        plan = decide(status=DRAINING, facts=draining(active), drain=rules)
        assert (plan.status, plan.look_again, plan.deletes, plan.warnings) == (DRAINING, PODS_WAIT, (), ())
        assert "generation 1" in plan.waiting_for

    def test_does_not_end_even_if_the_old_generation_is_gone(self) -> None:
        plan = decide(status=DRAINING, facts=draining(ABSENT, draining=ABSENT))
        assert plan.status.phase == "draining"

    def test_makes_what_is_missing_again(self) -> None:
        plan = decide(status=DRAINING, facts=draining(ABSENT))
        assert ensured(plan) == ["eng-g1-config", "eng-g1-hl", "eng-g1"]
        assert plan.waiting_for == "generation 1 has lost its StatefulSet, which is made again"

    def test_leaves_what_is_there(self) -> None:
        plan = decide(status=DRAINING, facts=draining(a_generation(1, statefulset=None, total=0)))
        assert ensured(plan) == ["eng-g1"]

    def test_says_so_where_only_pods_are_missing(self) -> None:
        plan = decide(status=DRAINING, facts=draining(a_generation(1, ready=0)))
        assert plan.waiting_for == "generation 1 has no ready pod, so the old generation stays"

    @pytest.mark.parametrize(
        ("active", "unresolved"),
        [
            pytest.param(ABSENT, "", id="there-is-nothing-to-compare"),
            pytest.param(a_generation(1, ready=0), "no such instance", id="nothing-can-be-rendered"),
        ],
    )
    def test_compares_only_what_can_be_compared(self, active: GenerationFacts, unresolved: str) -> None:
        plan = decide(status=DRAINING, facts=draining(active), blueprint=NeverCompared(), unresolved=unresolved)
        assert plan.status == DRAINING

    def test_makes_nothing_over_what_is_on_its_way_out(self) -> None:
        facts = draining(a_generation(1, statefulset=DELETING, config_map=None))
        assert ensured(decide(status=DRAINING, facts=facts)) == ["eng-g1-config"]

    def test_restores_what_pods_would_miss_when_they_restart(self) -> None:
        facts = draining(a_generation(1, config_map=None, headless_service=None), drain=None)
        assert ensured(decide(status=DRAINING, facts=facts)) == ["eng-g1-config", "eng-g1-hl"]

    @pytest.mark.parametrize("active", LOST)
    def test_given_no_instance_then_it_waits_and_makes_only_what_needs_none(self, active: GenerationFacts) -> None:
        plan = decide(status=DRAINING, facts=draining(active), unresolved="no such instance")
        assert plan.status == DRAINING
        assert set(ensured(plan)) <= {"eng-g1-hl"}
        assert plan.waiting_for.endswith("nothing of it can be made again yet: no such instance")

    def test_given_one_ready_pod_then_it_ends(self) -> None:
        assert decide(status=DRAINING, facts=draining(a_generation(1, ready=1))).status.phase == "cleaning"

    @pytest.mark.parametrize(
        ("active", "replicas"),
        [
            pytest.param(a_generation(1, replicas=0), 2, id="by-its-statefulset"),
            pytest.param(ABSENT, 0, id="by-the-spec"),
        ],
    )
    def test_given_no_replicas_then_it_needs_no_pod(self, active: GenerationFacts, replicas: int) -> None:
        plan = decide(status=DRAINING, facts=draining(active), spec=a_spec(replicas=replicas))
        assert plan.status.phase == "cleaning"
        assert "eng-g1" not in ensured(plan)

    def test_given_an_edit_then_the_old_generation_only_drains_and_the_next_one_follows(self) -> None:
        edited = NamedBlueprint("image differs")
        busy = draining(a_generation(1, ready=0), drain=DrainVerdict(is_drained=False))
        assert decide(status=DRAINING, facts=busy, blueprint=edited).status.phase == "draining"
        idle = draining(a_generation(1, ready=0, config_map=None))
        plan = decide(status=DRAINING, facts=idle, blueprint=edited)
        assert (plan.status.phase, plan.status.current_generation, plan.ensures) == ("cleaning", 1, ())

    @pytest.mark.parametrize("kind", ["statefulset", "config_map", "headless_service"])
    def test_given_a_name_that_is_taken_then_nothing_is_made_and_the_next_number_follows(self, kind: str) -> None:
        fields: dict[str, Any] = {"statefulset": None, "total": 0, kind: FOREIGN}
        taken = a_generation(1, **fields)
        plan = decide(status=DRAINING, facts=draining(taken))
        assert (plan.status.phase, plan.ensures) == ("cleaning", ())


@pytest.mark.parametrize(
    ("status", "active", "expected"),
    [
        pytest.param(DRAINING, a_generation(1), False, id="nothing-is-lost"),
        pytest.param(DRAINING, a_generation(1, ready=0), True, id="no-pod-is-ready"),
        pytest.param(DRAINING, a_generation(1, config_map=None), True, id="no-config-map"),
        pytest.param(DRAINING, a_generation(1, headless_service=None), False, id="a-service-needs-no-instance"),
        pytest.param(SWITCHING, ABSENT, False, id="creating-will-see-to-it"),
        pytest.param(CLEANING, ABSENT, False, id="nothing-is-made-while-cleaning"),
    ],
)
def test_the_instance_is_looked_up_only_for_what_was_lost(status: Any, active: GenerationFacts, expected: bool) -> None:
    assert must_be_rendered(status, draining(active), 2, UID) is expected


GONE, UNREADY = LOST[:3], LOST[3:]


class TestSwitching:
    @pytest.mark.parametrize("current", LOST)
    def test_goes_back_to_creating_before_queries_are_sent_there(self, current: GenerationFacts) -> None:
        plan = decide(status=SWITCHING, facts=some_facts(current=current, active=a_generation(0)))
        assert (plan.status, plan.look_again, plan.ensures, plan.deletes) == (CREATING, AT_ONCE, (), ())

    @pytest.mark.parametrize("current", GONE)
    def test_leads_queries_back_to_what_serves(self, current: GenerationFacts) -> None:
        facts = some_facts(current=current, active=a_generation(0), service_generation=1)
        plan = decide(status=SWITCHING, facts=facts)
        assert (plan.status, plan.look_again, plan.deletes) == (CREATING, AT_ONCE, ())
        assert (ensured(plan), routed_to(plan)) == (["eng-service"], "0")

    @pytest.mark.parametrize("current", UNREADY)
    def test_leads_nobody_away_from_pods_that_may_run_queries(self, current: GenerationFacts) -> None:
        facts = some_facts(current=current, active=a_generation(0), service_generation=1)
        assert decide(status=SWITCHING, facts=facts).status.phase == "draining"

    def test_given_no_replicas_then_a_lost_statefulset_still_counts(self) -> None:
        facts = some_facts(current=ABSENT, service_generation=1)
        assert decide(status=SWITCHING, facts=facts, spec=a_spec(replicas=0)).status.phase == "creating"

    def test_given_one_ready_pod_then_it_goes_on(self) -> None:
        facts = some_facts(current=a_generation(1, ready=1), service_generation=1)
        assert decide(status=SWITCHING, facts=facts).status.phase == "draining"


def test_given_a_config_map_of_somebody_else_at_rest_then_the_next_number_is_taken() -> None:
    facts = some_facts(current=a_generation(0, config_map=a_child("eng-g0-config", None, owner="someone")))
    plan = decide(facts=facts)
    assert (plan.status.phase, plan.status.current_generation, plan.ensures) == ("creating", 1, ())
