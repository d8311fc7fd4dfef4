"""The operator's real decisions and writes, explored exhaustively; and proof that the search would notice."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.resources import SERVICES
from firebolt_operator.engine import deletion, phases, sweep
from firebolt_operator.engine.facts import GenerationFacts
from firebolt_operator.engine.plan import PODS_WAIT, Plan
from firebolt_operator.engine.situation import Situation
from firebolt_operator.engine.sweep import Keep
from tests.model import objects
from tests.model.actions import calm
from tests.model.passes import Passes
from tests.model.search import Search
from tests.model.world import Service, Spec, State, initial

DEEPER = int(os.environ.get("FIREBOLT_MODEL_STATES", "0"))
"""How many states of the larger world to visit; without it, as many as fit into a few minutes."""


def explore(start: State, most: int) -> Search:
    search = Search(most=most, start=start)
    try:
        search.run()
        search.check_rest()
    finally:
        search.passes.close()
    return search


def report(capsys: pytest.CaptureFixture[str], what: str, search: Search) -> None:
    whole = "all of them" if search.is_complete else "the nearest ones"
    with capsys.disabled():
        print(f"\n  {what}: {len(search.came_from):,} states ({whole}), {search.transitions:,} transitions")


@pytest.mark.slow
def test_given_one_edit_then_every_reachable_state_keeps_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    """Pods and gates flap, answers are lost, the process dies after every write, watches lag: to the last state."""
    search = explore(initial()._replace(edits_left=1, births_left=0), most=1_000_000)
    report(capsys, "one edit", search)
    assert search.is_complete


@pytest.mark.slow
def test_given_two_edits_deletion_and_recreation_then_the_nearest_states_keep_every_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    search = explore(initial(), most=DEEPER or 85_000)
    report(capsys, "two edits, deletion, recreation", search)
    assert len(search.came_from) >= 85_000


def rolling(phase: str) -> State:
    """An engine that was edited once, on its way through a rollout; one more edit may come."""
    passes, state = Passes(), initial()._replace(edits_left=1, births_left=0)
    try:
        for _ in range(50):
            state = passes.whole(calm(state)._replace(is_settled=False))
            engine = state.truth.engine
            assert engine is not None
            if engine.spec.version and engine.status.phase == phase:
                return state
            if engine.status.phase == "stable" and engine.status.observed == 1 and not engine.spec.version:
                edited = engine._replace(spec=Spec(1, is_stopped=False))
                truth = state.truth._replace(engine=edited)
                state = state._replace(truth=truth, seen=truth)
    finally:
        passes.close()
    raise AssertionError(f"never {phase}")


def is_caught(start: State, passes: type[Passes] = Passes, most: int = 20_000) -> str:
    """The rule that a broken operator breaks."""
    search = Search(most=most, start=start, passes=passes())
    try:
        search.run()
        search.check_rest()
    except (AssertionError, RuntimeError) as err:
        return str(err).splitlines()[0]
    finally:
        search.passes.close()
    pytest.fail("nobody noticed")


CREATING, SWITCHING, DRAINING = rolling("creating"), rolling("switching"), rolling("draining")


def breaks(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: Callable[[Any], Any]) -> None:
    monkeypatch.setattr(module, name, change(getattr(module, name)))


def test_switching_without_looking_at_the_selector_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(original: Callable[[Situation], Plan]) -> Callable[[Situation], Plan]:
        def decide(situation: Situation) -> Plan:
            generation = situation.status.current_generation
            service = objects.real_service(Service(objects.engine_number(situation.uid), generation))
            return original(replace(situation, facts=replace(situation.facts, service=service)))

        return decide

    breaks(monkeypatch, phases, "_decide_switching", blind)
    assert is_caught(SWITCHING) in {"service_selects_what_the_status_knows", "service_moves_only_while_switching"}


def test_a_sweep_that_forgets_the_active_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(original: Callable[..., Keep]) -> Callable[..., Keep]:
        def keep_set(status: EngineStatus, selected: str) -> Keep:
            del selected
            return original(msgspec.structs.replace(status, active_generation=-1), "")

        return keep_set

    breaks(monkeypatch, sweep, "keep_set", forgetful)
    assert is_caught(CREATING) == "active_has_a_statefulset"


def test_a_sweep_that_forgets_the_draining_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(original: Callable[..., Keep]) -> Callable[..., Keep]:
        def keep_set(status: EngineStatus, selected: str) -> Keep:
            return original(msgspec.structs.replace(status, draining_generation=None), selected)

        return keep_set

    breaks(monkeypatch, sweep, "keep_set", forgetful)
    assert is_caught(DRAINING) == "draining_has_a_statefulset"


class StalePasses(Passes):
    """A new process that believes whatever its caches happen to hold, as old as the very beginning."""

    @staticmethod
    def restarted(state: State) -> State:
        return state._replace(suspects=frozenset())


def test_a_leader_that_starts_from_lagging_caches_is_caught() -> None:
    assert is_caught(CREATING, passes=StalePasses)


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
    assert is_caught(CREATING, most=1_000) == "the current generation is deleted although it matches"


def test_with_the_floor_a_stale_view_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the control: it is the missing floor that was caught, not the stale view."""
    breaks(monkeypatch, sweep, "keep_set", from_before_the_rollout)
    explore(CREATING, most=1_000)


def test_a_deletion_that_leaves_services_to_the_garbage_collector_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "KINDS", tuple(each for each in deletion.KINDS if each != SERVICES))
    assert is_caught(CREATING._replace(births_left=1)) == "a deleted engine leaves objects behind"


def test_leaving_creating_without_a_matching_statefulset_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(original: Callable[[Situation], Plan]) -> Callable[[Situation], Plan]:
        def decide(situation: Situation) -> Plan:
            plan = original(situation)
            if situation.facts.current.statefulset is not None:
                return plan
            return replace(plan, status=msgspec.structs.replace(plan.status, phase="switching"), ensures=())

        return decide

    breaks(monkeypatch, phases, "_decide_creating", careless)
    assert is_caught(CREATING)


def test_drift_detection_while_draining_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def eager(original: Callable[[Situation], Plan]) -> Callable[[Situation], Plan]:
        def decide(situation: Situation) -> Plan:
            statefulset = situation.facts.current.statefulset
            if statefulset is not None and situation.blueprint.drift(statefulset):
                return phases._start_generation(situation, "drift", deletes=())
            return original(situation)

        return decide

    breaks(monkeypatch, phases, "_decide_draining", eager)
    assert is_caught(DRAINING) == "draining_is_a_phase_of_its_own"


def test_advancing_without_ready_pods_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(_situation: Situation, current: GenerationFacts) -> bool:
        return current.statefulset is not None

    monkeypatch.setattr(phases, "_is_ready", impatient)
    assert is_caught(CREATING) == "queries are switched to pods that are not ready"


def test_cleaning_that_keeps_the_draining_generation_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def hoarding(original: Callable[[Situation], Plan]) -> Callable[[Situation], Plan]:
        def decide(situation: Situation) -> Plan:
            plan = original(situation)
            kept = situation.status.draining_generation
            return replace(plan, status=msgspec.structs.replace(plan.status, draining_generation=kept))

        return decide

    breaks(monkeypatch, phases, "_decide_cleaning", hoarding)
    assert is_caught(DRAINING) in {"terminal_means_nothing_drains", "draining_is_a_phase_of_its_own"}


def test_patching_a_statefulset_in_place_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def patching(_: Any) -> Callable[[Situation], Plan]:
        def decide(situation: Situation) -> Plan:
            wanted = situation.blueprint.statefulset(situation.status.current_generation)
            return phases._keep(situation, "patched", PODS_WAIT, (wanted,))

        return decide

    breaks(monkeypatch, phases, "_decide_creating", patching)
    assert is_caught(CREATING).startswith("a StatefulSet is patched in place")
