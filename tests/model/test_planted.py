"""Would the search notice? Each fault is planted into the operator, and must be found by the rule that it breaks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.resources import SERVICES
from firebolt_operator.engine import reconcile
from firebolt_operator.engine.act import deletion, sweep, writes
from firebolt_operator.engine.act.sweep import Keep
from firebolt_operator.engine.decide import budget, draining, phases, recovery
from firebolt_operator.engine.decide.draining import DrainRules
from firebolt_operator.engine.decide.routing import service_repair
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.engine.facts import DrainVerdict, GenerationFacts
from firebolt_operator.engine.observe import observer
from firebolt_operator.engine.plan import PODS_WAIT, Plan
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.reconciling.reads import known_or_live
from firebolt_operator.refs import Manifest
from tests.model import children, objects, steps
from tests.model.passes import Passes
from tests.model.search import RESTLESS, Search
from tests.model.starts import rolling
from tests.model.world import Drain, May, Service, State, initial

Decide = Callable[[Situation], Plan]


def caught_by(start: State, passes: type[Passes] = Passes, most: int = 20_000) -> str:
    """The rule that a broken operator breaks first; a fault that makes it raise is none that was found."""
    search = Search(most=most, start=start, passes=passes())
    try:
        search.run()
        search.check_rest()
    except AssertionError as err:
        return str(err).splitlines()[0]
    finally:
        search.passes.close()
    pytest.fail("nobody noticed")


CREATING = rolling("creating")._replace(edits_left=1)
SWITCHING = rolling("switching")._replace(edits_left=1)
DRAINING = rolling("draining")._replace(edits_left=1)
LOSSES = {phase: rolling(phase)._replace(losses_left=1) for phase in ("creating", "switching", "draining", "cleaning")}


def answering(answer: object) -> Callable[..., object]:
    def instead(*_: object) -> object:
        return answer

    return instead


def breaks(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(module, name, change(getattr(module, name)))


def test_a_budget_that_moves_at_once_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if one write could be made of the two that a switch has."""

    def sudden(status: EngineStatus) -> frozenset[int]:
        return frozenset(
            {status.current_generation if status.phase == "switching" else max(status.active_generation, 0)}
        )

    breaks(monkeypatch, budget, "covered_generations", lambda _original: sudden)
    start = rolling("creating", has_budget=True)
    assert caught_by(start) == "budget_covers_what_the_service_selects"


def test_switching_without_looking_at_the_selector_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(original: Decide) -> Decide:
        def decide(situation: Situation) -> Plan:
            generation = situation.status.current_generation
            service = objects.real_service(Service(objects.engine_number(situation.uid), generation))
            return original(replace(situation, facts=replace(situation.facts, service=service)))

        return decide

    breaks(monkeypatch, phases, "_decide_switching", blind)
    assert caught_by(SWITCHING) == "service_selects_what_the_status_knows"


def test_a_sweep_that_forgets_the_active_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(original: Callable[..., Keep]) -> Callable[..., Keep]:
        def keep_set(status: EngineStatus, selected: str) -> Keep:
            del selected
            return original(msgspec.structs.replace(status, active_generation=-1), "")

        return keep_set

    breaks(monkeypatch, sweep, "keep_set", forgetful)
    assert caught_by(CREATING) == "active_has_a_statefulset"


def test_a_sweep_that_forgets_the_draining_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(original: Callable[..., Keep]) -> Callable[..., Keep]:
        def keep_set(status: EngineStatus, selected: str) -> Keep:
            return original(msgspec.structs.replace(status, draining_generation=None), selected)

        return keep_set

    breaks(monkeypatch, sweep, "keep_set", forgetful)
    assert caught_by(DRAINING) == "draining_has_a_statefulset"


class StalePasses(Passes):
    """A new process that believes whatever its caches happen to hold, as old as the very beginning."""

    @staticmethod
    def restarted(state: State) -> State:
        return state._replace(suspects=frozenset())


def test_a_leader_that_starts_from_lagging_caches_is_caught() -> None:
    assert caught_by(CREATING, passes=StalePasses) == steps.MATCHED


def allows_without_floor(self: Keep, generation: int | None) -> bool:
    return generation is None or generation in self.generations


def from_before_the_rollout(original: Callable[..., Keep]) -> Callable[..., Keep]:
    """A view of the status that is older than the generation being built."""

    def keep_set(status: EngineStatus, selected: str) -> Keep:
        older = max(status.active_generation, 0)
        return original(msgspec.structs.replace(status, current_generation=older), selected)

    return keep_set


def test_a_sweep_without_a_floor_that_trusts_a_stale_view_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    breaks(monkeypatch, sweep, "keep_set", from_before_the_rollout)
    monkeypatch.setattr(Keep, "allows", allows_without_floor)
    assert caught_by(CREATING, most=1_000) == steps.MATCHED


def test_with_the_floor_a_stale_view_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the control: it is the missing floor that was caught, not the stale view."""
    breaks(monkeypatch, sweep, "keep_set", from_before_the_rollout)
    search = Search(most=1_000, start=CREATING)
    search.run()
    search.check_rest()
    search.passes.close()


def test_a_deletion_that_leaves_services_to_the_garbage_collector_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "KINDS", tuple(each for each in deletion.KINDS if each != SERVICES))
    assert caught_by(CREATING._replace(births_left=1)) == steps.LEFT_BEHIND


def test_leaving_creating_without_a_matching_statefulset_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(original: Decide) -> Decide:
        def decide(situation: Situation) -> Plan:
            plan = original(situation)
            if situation.facts.current.statefulset is not None:
                return plan
            return replace(plan, status=msgspec.structs.replace(plan.status, phase="switching"), ensures=())

        return decide

    breaks(monkeypatch, phases, "_decide_creating", careless)
    assert caught_by(CREATING) == steps.UNREADY


def test_drift_detection_while_draining_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(original: Decide) -> Decide:
        def decide(situation: Situation) -> Plan:
            statefulset = situation.facts.current.statefulset
            if statefulset is not None and situation.blueprint.drift(statefulset):
                return phases._start_generation(situation, "drift", deletes=())
            return original(situation)

        return decide

    breaks(monkeypatch, phases, "_decide_draining", eager)
    assert caught_by(DRAINING) == "draining_is_a_phase_of_its_own"


def test_advancing_without_ready_pods_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(_situation: Situation, current: GenerationFacts) -> bool:
        return current.statefulset is not None

    monkeypatch.setattr(phases, "_is_ready", impatient)
    assert caught_by(CREATING) == steps.UNREADY


def test_advancing_with_some_of_the_pods_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def content(_situation: Situation, current: GenerationFacts) -> bool:
        return current.statefulset is not None and current.pods.ready > 0

    monkeypatch.setattr(phases, "_is_ready", content)
    start = CREATING._replace(may=May(gates_flip=False, pods_come_singly=True))
    assert caught_by(start) == steps.UNREADY


def test_cleaning_that_keeps_the_draining_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def hoarding(original: Decide) -> Decide:
        def decide(situation: Situation) -> Plan:
            plan = original(situation)
            kept = situation.status.draining_generation
            return replace(plan, status=msgspec.structs.replace(plan.status, draining_generation=kept))

        return decide

    breaks(monkeypatch, phases, "_decide_cleaning", hoarding)
    assert caught_by(DRAINING) == "terminal_means_nothing_drains"


def test_patching_a_statefulset_in_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def patching(_: Any) -> Decide:
        def decide(situation: Situation) -> Plan:
            wanted = situation.blueprint.statefulset(situation.status.current_generation)
            return phases._keep(situation, "patched", PODS_WAIT, (wanted,))

        return decide

    breaks(monkeypatch, phases, "_decide_creating", patching)
    assert caught_by(CREATING) == children.PATCHED


def test_a_first_generation_that_is_deleted_while_it_takes_queries_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def heedless(situation: Situation, current: GenerationFacts, drift: str) -> Plan:
        return phases._start_generation(situation, drift, deletes=phases._generation_deletes(situation, current))

    monkeypatch.setattr(phases, "_abandon", heedless)
    start = initial(may=May(gates_flip=False))._replace(edits_left=1, births_left=0)
    assert caught_by(start) == steps.REACHED


class TestDraining:
    """Rules about queries that run and resolvers that remember."""

    def test_a_busy_generation_that_counts_as_drained_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reconcile, "judge_answers", answering(DrainVerdict(is_drained=True)))
        assert caught_by(rolling("draining")) == steps.BUSY

    def test_a_probe_that_asks_no_pod_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(GenerationFacts, "busy_pods", ())
        assert caught_by(rolling("draining")) == steps.BUSY

    def test_a_probe_that_asks_the_first_pod_only_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(GenerationFacts, "busy_pods", property(lambda facts: facts.running_pods[:1]))
        assert caught_by(rolling("draining")) == steps.BUSY

    def test_a_failed_scrape_that_counts_as_idle_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def hopeful(original: Any) -> Any:
            def judge(*arguments: Any) -> DrainVerdict | None:
                verdict: DrainVerdict | None = original(*arguments)
                return verdict and DrainVerdict(is_drained=verdict.is_drained or bool(verdict.problem))

            return judge

        breaks(monkeypatch, reconcile, "judge_answers", hopeful)
        start = rolling("draining")._replace(may=May(gates_flip=False, scrapes_fail=True))
        assert caught_by(start) == steps.BUSY

    def test_an_answer_from_before_the_settle_time_that_counts_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(draining, "IDLENESS_HOLDS", 2 * objects.TIMEOUT)
        monkeypatch.setattr(draining, "_is_asked_in_time", answering(True))
        start = rolling("draining")._replace(may=May(gates_flip=False, answers_come_early=True))
        assert caught_by(start) == steps.BUSY

    def test_a_drain_that_nobody_asks_about_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        start = rolling("draining")
        monkeypatch.setattr(reconcile, "must_ask", answering(False))
        assert caught_by(start) == RESTLESS

    def test_a_drain_that_does_not_settle_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(draining, "settle_left", answering(draining.NOTHING))
        assert caught_by(rolling("draining")) == steps.UNSETTLED

    def test_a_timeout_that_nobody_asked_for_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def hasty(_status: EngineStatus, _rules: DrainRules, _now: Any) -> bool:
            return True

        monkeypatch.setattr(draining, "_is_timed_out", hasty)
        assert caught_by(rolling("draining", Drain(has_timeout=True))) == steps.UNSETTLED


class TestLosses:
    """What the first release did when somebody deleted or edited its objects."""

    def test_a_service_made_again_for_the_generation_that_is_being_made_is_caught(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def newest(situation: Situation) -> tuple[Manifest, ...]:
            is_there = situation.facts.service is not None
            return () if is_there else (situation.blueprint.service(situation.status.current_generation),)

        monkeypatch.setattr(phases, "_service_ensures", newest)
        assert caught_by(LOSSES["creating"]) == steps.MISLED

    @pytest.mark.parametrize("phase", ["creating", "draining", "cleaning"])
    def test_a_service_that_is_not_restored_is_caught(self, monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
        def only_elsewhere(original: Any) -> Any:
            def ensures(situation: Situation) -> tuple[Manifest, ...]:
                return () if situation.status.phase == phase else original(situation)

            return ensures

        breaks(monkeypatch, phases, "_service_ensures", only_elsewhere)
        assert caught_by(LOSSES[phase]) == steps.UNROUTED

    @pytest.mark.parametrize("phase", ["creating", "switching", "draining"])
    def test_a_service_that_is_not_restored_behind_a_closed_gate_is_caught(
        self, monkeypatch: pytest.MonkeyPatch, phase: str
    ) -> None:
        monkeypatch.setattr(reconcile, "standing_routes", answering(()))
        assert caught_by(LOSSES[phase]._replace(may=May(gates_flip=True))) == steps.UNROUTED

    def test_a_drain_that_ends_although_the_new_generation_is_lost_is_caught(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(phases, "decide_lost", answering(None))
        assert caught_by(LOSSES["draining"]) == steps.ALONE

    def test_a_drain_that_waits_and_makes_nothing_again_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for module in (phases, recovery):
            monkeypatch.setattr(module, "lost_objects", answering(()))
        assert caught_by(LOSSES["draining"], most=500) == RESTLESS

    def test_a_switch_to_a_generation_that_is_lost_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def onwards(situation: Situation) -> Plan:
            status = situation.status
            repair = service_repair(situation.facts.service, situation.blueprint, status.current_generation)
            return phases._keep(situation, "onwards", PODS_WAIT, repair)

        monkeypatch.setattr(phases, "back_to_creating", onwards)
        assert caught_by(LOSSES["switching"]) == steps.FORSAKEN


class TestStrangers:
    @pytest.mark.parametrize("phase", ["creating", "stable"])
    def test_a_service_that_is_taken_over_is_caught(self, monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
        monkeypatch.setattr(reconcile, "foreign_service", answering(None))
        assert caught_by(rolling(phase)._replace(strangers_left=1)) == children.TAKEN_OVER

    def test_a_name_that_is_taken_over_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(phases, "is_taken", answering(False))
        assert caught_by(rolling("creating")._replace(strangers_left=1)) == children.TAKEN_OVER

    def test_absence_that_is_not_confirmed_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(observer, "confirmed", known_or_live)
        assert caught_by(rolling("creating")._replace(strangers_left=1)) == children.TAKEN_OVER

    def test_a_write_that_does_not_mind_which_object_it_meets_is_caught(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def heedless(self: writes.Actor, manifest: Manifest) -> None:
            live = self.seen(ref_of(manifest))
            if live is None or not live.says(manifest):
                await self.writer.apply(manifest)

        monkeypatch.setattr(writes.Actor, "_ensure", heedless)
        assert caught_by(rolling("switching")._replace(strangers_left=1)) == children.TAKEN_OVER
