from datetime import timedelta
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.engine.decide.phases import REST, decide_phase
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.engine.facts import ABSENT, DrainVerdict, GenerationFacts
from firebolt_operator.engine.plan import AT_ONCE, PODS_WAIT, URGENTLY, Plan
from firebolt_operator.engine.views import Child
from firebolt_operator.look_again import After, AtOnce
from tests.support.engines import (
    NOON,
    SECOND,
    UID,
    NamedBlueprint,
    a_child,
    a_generation,
    a_service,
    a_spec,
    a_status,
    drain_rules,
    some_facts,
)


def decide(**fields: Any) -> Plan:
    defaults: dict[str, Any] = {
        "spec": a_spec(),
        "uid": UID,
        "status": a_status(),
        "facts": some_facts(),
        "blueprint": NamedBlueprint(),
        "drain": drain_rules(),
        "now": NOON,
    }
    return decide_phase(Situation(**(defaults | fields)))


def ensured(plan: Plan) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in plan.ensures]


def routed_to(plan: Plan) -> str:
    service = next(each for each in plan.ensures if each["metadata"]["name"] == "eng-service")
    return str(service["spec"]["selector"][LABEL_GENERATION])


def deleted(plan: Plan) -> list[str]:
    return [delete.child.metadata.name for delete in plan.deletes]


FIRST = a_status(phase="creating", active_generation=-1)
CREATING = a_status(phase="creating", current_generation=1, active_generation=0)
SWITCHING = a_status(phase="switching", current_generation=1, active_generation=0)
DRAINING = a_status(
    phase="draining", current_generation=1, active_generation=1, draining_generation=0, switched_at=NOON - 60 * SECOND
)
CLEANING = a_status(phase="cleaning", current_generation=1, active_generation=1, draining_generation=0)
FIRST_SWITCH = a_status(phase="switching", current_generation=1, active_generation=-1)


class TooDeep(NamedBlueprint):
    def drift(self, statefulset: Child) -> str | None:
        raise RecursionError(statefulset.metadata.name)


class TestAtRest:
    def test_given_nothing_changed_then_nothing_is_written(self) -> None:
        plan = decide()
        assert (plan.ensures, plan.deletes, plan.status, plan.look_again) == ((), (), a_status(), REST)
        assert plan.is_at_rest

    def test_given_rest_then_it_is_looked_at_twice_a_minute(self) -> None:
        assert decide().look_again == After(timedelta(seconds=30))

    def test_given_hashes_on_the_statefulset_then_the_status_tells_them(self) -> None:
        hashes = {"firebolt.io/auth-hash": "a", "firebolt.io/engine-tls-hash": "t"}
        hashed = a_child("eng-g0", 0, annotations=hashes)
        status = decide(facts=some_facts(current=a_generation(0, statefulset=hashed))).status
        assert (status.observed_auth_hash, status.observed_engine_tls_hash) == ("a", "t")

    def test_given_a_strategy_that_replaces_serving_pods_then_it_is_changed_unless_they_go_anyway(self) -> None:
        rolling = {"replicas": 2, "updateStrategy": {"type": "RollingUpdate"}}
        new, old = a_child("eng-g1", 1, spec=rolling), a_child("eng-g0", 0, spec=rolling)
        current, doomed = a_generation(1, statefulset=new), a_generation(0, statefulset=old)
        plan = decide(status=CLEANING, facts=some_facts(current=current, draining=doomed, service_generation=1))
        assert [patch.child.metadata.name for patch in plan.patches] == ["eng-g1"]
        assert "eng-g0" in deleted(plan)

    def test_given_zero_replicas_then_stopped(self) -> None:
        plan = decide(spec=a_spec(replicas=0), facts=some_facts(current=a_generation(0, replicas=0)))
        assert plan.status.phase == "stopped"

    def test_given_drift_then_only_the_intent_is_written(self) -> None:
        plan = decide(blueprint=NamedBlueprint("image differs"))
        assert (plan.status.phase, plan.status.current_generation, plan.status.active_generation) == ("creating", 1, 0)
        assert (plan.ensures, plan.deletes, plan.look_again) == ((), (), AT_ONCE)

    @pytest.mark.parametrize(("replicas", "expected"), [(2, URGENTLY), (0, AT_ONCE)])
    def test_given_a_start_after_a_stop_then_it_goes_on_before_all_others(
        self, replicas: int, expected: AtOnce
    ) -> None:
        plan = decide(
            spec=a_spec(replicas=replicas),
            status=a_status(phase="stopped"),
            facts=some_facts(current=a_generation(0, replicas=0)),
            blueprint=NamedBlueprint("spec.replicas"),
        )
        assert (plan.status.phase, plan.look_again) == ("creating", expected)

    def test_given_the_statefulset_is_gone_then_a_new_generation_starts(self) -> None:
        plan = decide(facts=some_facts(current=a_generation(0, statefulset=None)))
        assert (plan.status.phase, plan.status.current_generation) == ("creating", 1)

    def test_given_the_statefulset_is_being_deleted_then_a_new_generation_starts(self) -> None:
        going = a_child("eng-g0", 0, deleting=True)
        assert decide(facts=some_facts(current=a_generation(0, statefulset=going))).status.phase == "creating"

    def test_given_config_map_or_headless_service_are_gone_then_they_are_restored_in_place(self) -> None:
        plan = decide(facts=some_facts(current=a_generation(0, config_map=None, headless_service=None)))
        assert ensured(plan) == ["eng-g0-config", "eng-g0-hl"]
        assert (plan.status.phase, plan.status.current_generation) == ("stable", 0)

    @pytest.mark.parametrize("selected", [-1, 99])
    def test_given_a_wrong_selector_then_it_is_repaired(self, selected: int) -> None:
        plan = decide(facts=some_facts(service_generation=selected))
        assert (ensured(plan), routed_to(plan), plan.status.phase) == (["eng-service"], "0", "stable")

    def test_given_no_active_generation_then_the_pass_aborts(self) -> None:
        with pytest.raises(RuntimeError, match="without an active generation"):
            decide(status=a_status(active_generation=-1))

    def test_given_an_unknown_phase_then_it_ends_in_a_terminal_one(self) -> None:
        assert decide(status=a_status(phase="odd")).status.phase == "stable"


class TestCreating:
    def test_given_nothing_exists_then_all_is_made_in_order(self) -> None:
        status = a_status(phase="creating", active_generation=-1)
        plan = decide(status=status, facts=some_facts(current=ABSENT, service_generation=-1))
        assert ensured(plan) == ["eng-g0-config", "eng-g0-hl", "eng-g0", "eng-service"]
        assert (plan.status, plan.look_again) == (status, PODS_WAIT)

    def test_given_a_service_that_routes_then_it_is_left_alone(self) -> None:
        plan = decide(status=CREATING, facts=some_facts(current=ABSENT))
        assert ensured(plan) == ["eng-g1-config", "eng-g1-hl", "eng-g1"]

    @pytest.mark.parametrize(("total", "ready"), [(2, 1), (1, 1), (3, 3), (0, 0)])
    def test_given_not_exactly_all_pods_ready_then_it_waits(self, total: int, ready: int) -> None:
        plan = decide(status=CREATING, facts=some_facts(current=a_generation(1, total=total, ready=ready)))
        assert (plan.status.phase, plan.look_again) == ("creating", PODS_WAIT)

    def test_given_all_pods_ready_then_it_switches_and_never_patches_the_statefulset(self) -> None:
        plan = decide(status=CREATING, facts=some_facts(current=a_generation(1)))
        assert (plan.status.phase, plan.look_again, ensured(plan)) == (
            "switching",
            URGENTLY,
            ["eng-g1-config", "eng-g1-hl"],
        )

    def test_given_zero_replicas_then_it_is_ready_without_pods(self) -> None:
        facts = some_facts(current=a_generation(1, replicas=0))
        assert decide(spec=a_spec(replicas=0), status=CREATING, facts=facts).status.phase == "switching"

    def test_given_drift_then_the_attempt_is_abandoned_before_readiness_counts(self) -> None:
        plan = decide(status=CREATING, facts=some_facts(current=a_generation(1)), blueprint=NamedBlueprint("x"))
        assert deleted(plan) == ["eng-g1", "eng-g1-hl", "eng-g1-config"]
        assert (plan.status.phase, plan.status.current_generation, plan.ensures) == ("creating", 2, ())

    @pytest.mark.parametrize("ready", [1, 2])
    def test_given_drift_of_a_first_generation_that_takes_queries_then_it_serves_until_the_next_one_does(
        self, ready: int
    ) -> None:
        """Before the first switch the Service leads to it: it is drained, as any other that has served."""
        facts = some_facts(current=a_generation(0, ready=ready), active=ABSENT)
        plan = decide(status=FIRST, facts=facts, blueprint=NamedBlueprint("x"))
        status = plan.status
        assert (status.phase, status.current_generation, status.active_generation) == ("creating", 1, 0)
        assert (deleted(plan), plan.ensures) == ([], ())

    @pytest.mark.parametrize(
        "current",
        [
            pytest.param(a_generation(0, ready=0), id="no-pod-is-ready"),
            pytest.param(a_generation(0, statefulset=a_child("eng-g0", 0, deleting=True)), id="it-goes-anyway"),
        ],
    )
    def test_given_drift_of_a_first_generation_that_takes_none_then_it_goes_at_once(
        self, current: GenerationFacts
    ) -> None:
        facts = some_facts(current=current, active=ABSENT)
        plan = decide(status=FIRST, facts=facts, blueprint=NamedBlueprint("x"))
        assert (plan.status.current_generation, plan.status.active_generation) == (1, -1)
        assert deleted(plan) == ["eng-g0", "eng-g0-hl", "eng-g0-config"]

    def test_given_the_statefulset_is_being_deleted_then_it_waits_until_it_is_gone(self) -> None:
        going = a_child("eng-g1", 1, deleting=True)
        plan = decide(status=CREATING, facts=some_facts(current=a_generation(1, statefulset=going)))
        assert (plan.ensures, plan.status.phase) == ((), "creating")

    @pytest.mark.parametrize("kind", ["statefulset", "config_map", "headless_service"])
    def test_given_an_object_of_another_owner_then_the_next_number_is_taken(self, kind: str) -> None:
        foreign: dict[str, Any] = {kind: a_child("eng-g1", 1, owner="someone", spec={"replicas": 2})}
        plan = decide(status=CREATING, facts=some_facts(current=a_generation(1, **foreign)))
        assert (plan.status.current_generation, plan.deletes, plan.ensures) == (2, (), ())


class TestSwitching:
    def test_given_the_old_selector_then_it_is_flipped_and_nothing_else(self) -> None:
        plan = decide(status=SWITCHING, facts=some_facts(current=a_generation(1)))
        assert (ensured(plan), routed_to(plan)) == (["eng-service"], "1")
        assert (plan.status, plan.look_again) == (SWITCHING, AT_ONCE)

    def test_given_the_new_selector_then_the_old_generation_drains(self) -> None:
        plan = decide(status=SWITCHING, facts=some_facts(current=a_generation(1), service_generation=1))
        assert plan.status == a_status(
            phase="draining", current_generation=1, active_generation=1, draining_generation=0, switched_at=NOON
        )

    def test_given_an_instant_within_a_second_then_it_is_noted_as_the_next_one(self) -> None:
        facts = some_facts(current=a_generation(1), service_generation=1)
        plan = decide(status=SWITCHING, facts=facts, now=NOON + SECOND / 4)
        assert plan.status.switched_at == NOON + SECOND

    def test_given_no_drain_check_then_draining_is_skipped(self) -> None:
        facts = some_facts(current=a_generation(1), service_generation=1)
        plan = decide(status=SWITCHING, facts=facts, drain=drain_rules(is_skipped=True))
        assert (plan.status.phase, plan.status.draining_generation) == ("cleaning", 0)

    @pytest.mark.parametrize(("replicas", "phase"), [(2, "stable"), (0, "stopped")])
    def test_given_the_first_generation_then_it_is_done(self, replicas: int, phase: str) -> None:
        status = a_status(phase="switching", active_generation=-1)
        plan = decide(spec=a_spec(replicas=replicas), status=status)
        assert (plan.status.phase, plan.status.active_generation, plan.status.draining_generation) == (phase, 0, None)

    def test_given_drift_then_it_waits_for_the_end(self) -> None:
        plan = decide(status=SWITCHING, facts=some_facts(current=a_generation(1)), blueprint=NamedBlueprint("x"))
        assert plan.status == SWITCHING


class TestDraining:
    def test_given_busy_pods_then_it_waits(self) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0), drain=DrainVerdict(is_drained=False))
        plan = decide(status=DRAINING, facts=facts)
        assert (plan.status, plan.look_again, plan.deletes) == (DRAINING, After(5 * SECOND), ())
        assert plan.waiting_for == "generation 0 still runs queries"

    def test_given_idle_pods_then_it_cleans(self) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0), drain=DrainVerdict(is_drained=True))
        assert decide(status=DRAINING, facts=facts).status.phase == "cleaning"

    @pytest.mark.parametrize("switched_at", [None, NOON + 5 * SECOND])
    def test_given_no_sane_instant_then_waiting_starts_over(self, switched_at: Any) -> None:
        status = a_status(
            phase="draining", current_generation=1, active_generation=1, draining_generation=0, switched_at=switched_at
        )
        plan = decide(status=status, facts=some_facts(current=a_generation(1), draining=a_generation(0)))
        assert (plan.status.phase, plan.status.switched_at) == ("draining", NOON)

    def test_given_an_instant_that_was_rounded_up_then_it_stays(self) -> None:
        plan = decide(
            status=msgspec.structs.replace(DRAINING, switched_at=NOON + SECOND),
            facts=some_facts(current=a_generation(1), draining=a_generation(0)),
            now=NOON + SECOND / 4,
        )
        assert plan.status.switched_at == NOON + SECOND

    def test_given_it_settles_then_people_are_told_until_when(self) -> None:
        status = a_status(
            phase="draining", current_generation=1, active_generation=1, draining_generation=0, switched_at=NOON
        )
        plan = decide(status=status, facts=some_facts(current=a_generation(1), draining=a_generation(0)))
        assert plan.waiting_for == "old generation stays until 2026-04-29T12:00:35Z"

    def test_given_a_timeout_then_it_cleans_with_a_warning(self) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0), drain=DrainVerdict(is_drained=False))
        plan = decide(status=DRAINING, facts=facts, drain=drain_rules(timeout=timedelta(seconds=50)))
        assert (plan.status.phase, [warning.reason for warning in plan.warnings]) == ("cleaning", ["DrainTimeout"])

    @pytest.mark.parametrize(
        ("settle", "words"),
        [
            pytest.param(
                35 * SECOND, "it still ran queries, or could not be asked, when it was last looked at", id="asked"
            ),
            pytest.param(
                90 * SECOND,
                "nobody asked whether it runs queries, because the time of --drain-settle had not passed yet",
                id="nobody-asked",
            ),
        ],
    )
    def test_given_a_timeout_then_the_warning_says_only_what_is_known(self, settle: timedelta, words: str) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0))
        plan = decide(status=DRAINING, facts=facts, drain=drain_rules(timeout=50 * SECOND, settle=settle))
        begin = "drainTimeout 0:00:50 ended the wait for generation 0, which is deleted now: "
        assert [warning.note for warning in plan.warnings] == [begin + words]

    def test_given_nothing_drains_then_it_is_done(self) -> None:
        assert decide(status=a_status(phase="draining")).status.phase == "stable"


class TestCleaning:
    def test_given_an_old_generation_then_it_is_deleted_and_forgotten(self) -> None:
        plan = decide(status=CLEANING, facts=some_facts(current=a_generation(1), draining=a_generation(0)))
        assert deleted(plan) == ["eng-g0", "eng-g0-hl", "eng-g0-config"]
        assert plan.status == a_status(phase="stable", current_generation=1, active_generation=1)
        assert plan.is_at_rest

    @pytest.mark.parametrize(
        "why",
        [
            pytest.param({"blueprint": NamedBlueprint("the image")}, id="its-spec-has-moved-on"),
            pytest.param({"unresolved": "no instance"}, id="what-it-should-be-is-not-known"),
            pytest.param({"blueprint": TooDeep()}, id="what-it-should-be-cannot-be-rendered"),
            pytest.param({"facts": some_facts(current=ABSENT, draining=a_generation(0))}, id="it-is-lost"),
        ],
    )
    @pytest.mark.parametrize("status", [CLEANING, FIRST_SWITCH])
    def test_given_that_it_may_have_to_go_on_then_it_is_not_called_done(
        self, status: EngineStatus, why: dict[str, Any]
    ) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0), service=a_service(1))
        assert not decide(**({"status": status, "facts": facts} | why)).is_at_rest

    def test_given_some_of_it_is_gone_already_then_the_rest_is_deleted(self) -> None:
        rest = a_generation(0, statefulset=None, headless_service=None)
        plan = decide(status=CLEANING, facts=some_facts(current=a_generation(1), draining=rest))
        assert deleted(plan) == ["eng-g0-config"]

    @pytest.mark.parametrize("kind", ["statefulset", "config_map", "headless_service"])
    def test_given_something_of_another_owner_then_it_stays(self, kind: str) -> None:
        foreign: dict[str, Any] = {kind: a_child("theirs", 0, owner="someone", spec={"replicas": 2})}
        plan = decide(status=CLEANING, facts=some_facts(current=a_generation(1), draining=a_generation(0, **foreign)))
        assert len(plan.deletes) == 2
        assert "theirs" not in deleted(plan)

    def test_given_the_spec_wants_zero_by_now_then_it_ends_stopped(self) -> None:
        facts = some_facts(current=a_generation(1), draining=a_generation(0))
        assert decide(spec=a_spec(replicas=0), status=CLEANING, facts=facts).status.phase == "stopped"


def test_given_any_phase_then_a_next_look_is_always_due() -> None:
    for status in (a_status(), CREATING, SWITCHING, DRAINING, CLEANING, a_status(phase="odd")):
        look_again = decide(status=status).look_again
        assert isinstance(look_again, AtOnce) or (isinstance(look_again, After) and look_again.wait > timedelta(0))
