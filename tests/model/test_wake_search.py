"""Parking and waking, explored exhaustively on the real code of operator and agent; and proof that it would notice.

The holds' own bookkeeping is explored beside its unit tests; here a hold is one that waits or none.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.names import AutoStopReason
from firebolt_operator.engine.act import replicas
from firebolt_operator.engine.act.replicas import ReplicaAdjuster
from firebolt_operator.engine.decide import autostop
from firebolt_operator.engine.decide.autostop import Decision, Observation, Policy
from firebolt_operator.reconciling.patches import Patcher
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.wake.decide.wake_requests import Claim, WakeRequests
from tests.model import wake_agent, wake_rules
from tests.model.wake_search import BrokenError, Search, searched
from tests.model.wake_world import Agent
from tests.support.engines import NOON

Decide = Callable[..., Decision]
FOR_EVER = timedelta(days=1000)


@pytest.fixture(autouse=True)
def _fresh_agent() -> Iterator[None]:
    """What an agent did in another test says nothing about a broken one."""
    at_endpoints = (wake_agent.appeared, wake_agent.routed, wake_agent.vanished)
    steps = (wake_agent.asked, wake_agent.claimed, *at_endpoints, wake_agent._settled)
    yield
    for step in steps:
        step.cache_clear()


def report(capsys: pytest.CaptureFixture[str], what: str, search: Search) -> None:
    with capsys.disabled():
        print(
            f"\n  {what}: {len(search.came_from):,} states (all of them), {search.transitions:,} transitions,"
            f" {len(search.passes):,} different passes"
        )


@pytest.mark.slow
def test_given_one_edit_by_a_person_then_every_reachable_state_keeps_every_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Stamps fail and come late, caches lag, pods cannot be asked, processes die after every write, for ever."""
    search = searched(edits=1, strangers=0)
    report(capsys, "parking and waking, with a person's edit", search)
    assert len(search.came_from) > 100_000


@pytest.mark.slow
def test_given_one_request_by_a_stranger_then_every_reachable_state_keeps_every_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of any age, from a clock that runs ahead, or no time at all."""
    search = searched(edits=0, strangers=1)
    report(capsys, "parking and waking, with a stranger's request", search)
    assert len(search.came_from) > 100_000


def is_caught(*, edits: int = 0, strangers: int = 0) -> str:
    """The rule that a broken operator or agent breaks."""
    with pytest.raises(BrokenError) as caught:
        searched(edits=edits, strangers=strangers)
    return str(caught.value).splitlines()[0]


def decides(monkeypatch: pytest.MonkeyPatch, change: Callable[[Observation, Decision], Decision]) -> None:
    original: Decide = autostop.decide_autostop

    def decide(policy: Policy | None, seen: Observation, *, now: datetime) -> Decision:
        return change(seen, original(policy, seen, now=now))

    monkeypatch.setattr(replicas, "decide_autostop", decide)


def without(monkeypatch: pytest.MonkeyPatch, rules: str) -> None:
    """Lets these rules pass, to see that others notice as well."""

    def content(*_: object) -> Iterator[str]:
        return iter(())

    monkeypatch.setattr(wake_rules, rules, content)


def test_a_stopped_engine_that_is_not_looked_at_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine that can be woken is stopped: whoever tests for that first wakes none."""

    def stopped_first(seen: Observation, decision: Decision) -> Decision:
        stopped = Decision(replicas=0, reason=AutoStopReason.STOPPED, is_activity=False)
        return decision if seen.replicas else stopped

    decides(monkeypatch, stopped_first)
    assert is_caught().startswith("the table says 1 nodes, WakeRequested")


def test_losing_every_wake_is_caught_without_the_table_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> bool:
        return False

    monkeypatch.setattr(wake_rules, "is_fresh", never)
    monkeypatch.setattr(autostop, "is_fresh", never)
    assert is_caught() == "whoever waits is answered"


def test_a_request_that_never_ages_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autostop, "WAKE_LIFETIME", FOR_EVER)
    assert is_caught() == "the table says 0 nodes, Stopped; it was 1, WakeRequested"


def test_a_lifetime_that_is_read_backwards_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def backwards(requested_at: datetime | None, handled_at: datetime | None, *, now: datetime) -> bool:
        is_new = requested_at is not None and (handled_at is None or requested_at > handled_at)
        return requested_at is not None and is_new and now - requested_at >= autostop.WAKE_LIFETIME

    monkeypatch.setattr(autostop, "is_fresh", backwards)
    assert is_caught().startswith("the table says 1 nodes, WakeRequested")


def test_a_request_that_resizes_a_running_engine_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = autostop.is_fresh

    def unfiltered(seen: Observation, decision: Decision) -> Decision:
        if not original(seen.wake_requested_at, seen.wake_handled_at, now=NOON):
            return decision
        return Decision(replicas=1, reason=AutoStopReason.WAKE_REQUESTED, is_activity=False)

    decides(monkeypatch, unfiltered)
    without(monkeypatch, "broken_pass")
    assert is_caught() == "a running engine is only ever parked"


def test_a_request_that_is_never_handled_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(_: ReplicaAdjuster, status: EngineStatus, replicas: int) -> EngineStatus:
        del replicas
        return status

    monkeypatch.setattr(ReplicaAdjuster, "_heard", deaf)
    assert is_caught() == "a request wakes once"


@pytest.mark.parametrize("phase", ["stable", "creating"])
def test_a_request_that_is_not_heard_in_one_phase_is_caught(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """Neither the phase in which an engine serves nor a rollout may let a request pass unnoticed."""
    original = ReplicaAdjuster._heard

    def hard_of_hearing(self: ReplicaAdjuster, status: EngineStatus, replicas: int) -> EngineStatus:
        return status if status.phase == phase else original(self, status, replicas)

    monkeypatch.setattr(ReplicaAdjuster, "_heard", hard_of_hearing)
    assert is_caught(edits=1) == "a request wakes once"


def test_an_engine_that_is_parked_right_after_it_came_up_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_refreshed(_: ReplicaAdjuster, status: EngineStatus) -> EngineStatus:
        return status

    monkeypatch.setattr(ReplicaAdjuster, "_refreshed", not_refreshed)
    without(monkeypatch, "broken_pass")
    assert is_caught() == "a whole idle timeout passes before an engine is parked"


def test_parking_under_a_wrong_name_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def misnamed(seen: Observation, decision: Decision) -> Decision:
        del seen
        return replace(decision, reason=AutoStopReason.STOPPED) if decision.reason == "Idle" else decision

    decides(monkeypatch, misnamed)
    assert is_caught() == "the table says 0 nodes, Idle; it was 0, Stopped"


@dataclass(frozen=True)
class Careless:
    """Writes whatever was read."""

    writer: Patcher

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /) -> Manifest:
        return await self.writer.merge_patch(ref, {"spec": patch["spec"]})


def test_a_write_over_somebodys_edit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = ReplicaAdjuster._resize

    async def unconditional(self: ReplicaAdjuster, decision: Decision) -> FireboltEngine:
        return await original(replace(self, writer=Careless(self.writer)), decision)

    monkeypatch.setattr(ReplicaAdjuster, "_resize", unconditional)
    assert is_caught(edits=1) in {"a running engine is only ever parked", "an edit of somebody else wins"}


def test_a_clock_that_runs_ahead_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (autostop, replicas):
        monkeypatch.setattr(module, "CLOCK_TOLERANCE", FOR_EVER)
    assert is_caught(strangers=1) == "the table says 0 nodes, Stopped; it was 1, WakeRequested"


def test_writing_at_every_look_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def restless(seen: Observation, decision: Decision) -> Decision:
        is_kept = seen.replicas == decision.replicas > 0
        return replace(decision, is_activity=True) if is_kept else decision

    decides(monkeypatch, restless)
    assert is_caught() == "nothing is written without news"


@pytest.mark.slow
def test_an_agent_that_stamps_only_once_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that was heard while the engine ran must be renewed, or whoever waits since then waits in vain."""
    original = WakeRequests.claim

    def inattentive(self: WakeRequests, *, now: float) -> Claim | None:
        self.is_waiting = lambda _: False
        return original(self, now=now)

    monkeypatch.setattr(WakeRequests, "claim", inattentive)
    without(monkeypatch, "broken_world")
    assert is_caught(edits=1) == "whoever waits is answered"


def test_an_agent_that_forgets_whoever_came_while_it_stamped_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = WakeRequests._settle

    def forgetful(self: WakeRequests, engine: str, due_at: float, *, failures: int) -> None:
        self._demands[engine].is_forgotten |= self._demands[engine].is_new
        original(self, engine, due_at, failures=failures)

    monkeypatch.setattr(WakeRequests, "_settle", forgetful)
    assert is_caught() == "whoever waits is on the books"


def test_an_agent_that_forgets_whoever_waits_when_endpoints_vanish_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """They appeared and went before Envoy knew them."""

    def forgetful(agent: Agent) -> Agent:
        return agent._replace(sees_endpoints=False, is_routed=False)

    monkeypatch.setattr(wake_agent, "vanished", forgetful)
    assert is_caught() == "whoever waits is on the books"
