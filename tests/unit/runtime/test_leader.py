"""One leader at a time, whatever the network and the processes do."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from firebolt_operator.errors import FencedError
from firebolt_operator.runtime.doubts import Doubts
from firebolt_operator.runtime.fence import LeaseFence, OpenFence
from firebolt_operator.runtime.leader import Election, LeaseTerms
from tests.support.manual_clock import ManualClock, idle
from tests.support.recorders import LeaderNotes
from tests.unit.kube.wire import CountedRecorder
from tests.unit.runtime.memory_leases import LEASE, MemoryLeases


@dataclass
class SwitchNotes:
    armed_for: float | None = None

    def arm(self, seconds: float, /) -> None:
        self.armed_for = seconds

    def disarm(self) -> None:
        self.armed_for = None


@dataclass
class Candidate:
    leases: MemoryLeases
    name: str = "me"
    switch: SwitchNotes = field(default_factory=SwitchNotes)
    notes: LeaderNotes = field(default_factory=LeaderNotes)
    election: Election = field(init=False)

    def __post_init__(self) -> None:
        clock = self.leases.clock
        terms = LeaseTerms(ref=LEASE, identity=self.name)
        fence = LeaseFence(clock, self.switch, terms.duration, terms.renew_deadline)
        self.election = Election(terms, self.leases, fence, clock, random.Random(1), self.notes)

    @property
    def may_write(self) -> bool:
        try:
            return self.election.fence.remaining() > 0
        except FencedError:
            return False

    async def lead(self) -> None:
        await self.election.acquire()
        await self.election.hold()


async def moment_of_loss(candidate: Candidate, clock: ManualClock, may_write: list[bool] | None = None) -> float:
    """When a leader finds that it leads no more, and whether it may write then."""
    lost_at: list[float] = []

    async def lead() -> None:
        try:
            await candidate.election.hold()
        except FencedError:
            lost_at.append(clock.monotonic())
            if may_write is not None:
                may_write.append(candidate.may_write)

    async with asyncio.TaskGroup() as group:
        group.create_task(lead(), name="leader")
        await clock.advance(60)
    return lost_at[0]


def holder_of(leases: MemoryLeases) -> object:
    return leases.stored and leases.stored["spec"]["holderIdentity"]


async def test_given_no_lease_then_it_is_made_and_renewed_every_two_seconds() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(candidate.lead(), name="candidate")
        await clock.advance(5)
        task.cancel()
    assert leases.stored is not None
    assert leases.stored["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T12:00:00.000000Z",
        "renewTime": "2026-01-01T12:00:04.000000Z",
        "leaseTransitions": 0,
    }
    assert leases.writes == ["me"] * 3


async def test_given_a_holder_that_falls_silent_then_another_waits_the_whole_duration_from_what_it_saw() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    await Candidate(leases, "first").election.acquire()
    second = Candidate(leases, "second")
    await clock.advance(7)
    async with asyncio.TaskGroup() as group:
        group.create_task(second.election.acquire(), name="second")
        await clock.advance(14.9)
        assert holder_of(leases) == "first"
        await clock.advance(3)
    assert leases.stored is not None
    assert (leases.stored["spec"]["holderIdentity"], leases.stored["spec"]["leaseTransitions"]) == ("second", 1)
    assert second.notes.is_leader


async def test_given_a_released_lease_then_another_leads_within_little_more_than_a_second() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    first, second = Candidate(leases, "first"), Candidate(leases, "second")
    await first.election.acquire()
    async with asyncio.TaskGroup() as group:
        group.create_task(second.election.acquire(), name="second")
        await clock.advance(0.5)
        await first.election.release()
        assert (holder_of(leases), first.may_write, first.switch.armed_for) == ("", False, None)
        await clock.advance(1.2)
        assert second.may_write


async def test_given_a_lease_that_was_lost_then_it_is_not_released_for_someone_else() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    await candidate.election.acquire()
    await clock.advance(11)
    await candidate.election.release()
    assert leases.writes == ["me"]


@pytest.mark.parametrize(
    ("method", "code", "resource", "is_doubtful"),
    [
        pytest.param("PATCH", "error", "services", True, id="given-up"),
        pytest.param("DELETE", "504", "services", True, id="broken-at-the-server"),
        pytest.param("PATCH", "409", "services", False, id="refused"),
        pytest.param("GET", "error", "services", False, id="a-read"),
        pytest.param("PUT", "error", "leases", False, id="a-renewal"),
        pytest.param("POST", "error", "tokenreviews", False, id="a-question"),
    ],
)
async def test_given_a_write_that_was_not_answered_then_the_lease_is_left_to_expire(
    method: str, code: str, resource: str, *, is_doubtful: bool
) -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate, notes = Candidate(leases), CountedRecorder()
    await candidate.election.acquire()
    Doubts(candidate.election.fence, notes).request(method, code, 0.1, resource, "any")
    await clock.advance(1)
    await candidate.election.release()
    assert (holder_of(leases), candidate.switch.armed_for is not None) == (("me", True) if is_doubtful else ("", False))
    assert not candidate.may_write
    assert notes.requests == [(method, code, resource)]


async def test_given_a_doubt_as_old_as_a_lease_then_the_lease_is_released() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    candidate.election.fence.doubt()
    await clock.advance(15)
    await candidate.election.acquire()
    await candidate.election.release()
    assert holder_of(leases) == ""


async def test_given_an_api_server_that_is_away_then_the_leader_gives_up_after_ten_seconds() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    await candidate.election.acquire()
    leases.is_away = True
    lost_at = await moment_of_loss(candidate, clock)
    assert lost_at == pytest.approx(10)
    assert (candidate.may_write, candidate.notes.is_leader) == (False, False)


async def test_given_one_lost_answer_then_leadership_goes_on_over_the_slow_path() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    await candidate.election.acquire()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(candidate.election.hold(), name="leader")
        leases.loses_answers = True
        await clock.advance(2)
        leases.loses_answers = False
        await clock.advance(60)
        task.cancel()
    assert (candidate.notes.slow_paths, candidate.may_write) == (1, True)


@pytest.mark.parametrize("holder", [pytest.param("other", id="taken"), pytest.param(None, id="deleted")])
async def test_given_the_lease_is_another_s_then_the_leader_stops_at_once(holder: str | None) -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock)
    candidate = Candidate(leases)
    await candidate.election.acquire()
    assert leases.stored is not None
    metadata = {**leases.stored["metadata"], "resourceVersion": "99"}
    leases.stored = {**leases.stored, "metadata": metadata, "spec": {"holderIdentity": holder}} if holder else None
    may_write_when_lost: list[bool] = []
    assert await moment_of_loss(candidate, clock, may_write_when_lost) == pytest.approx(2)
    # Not eight seconds later, when its own deadline would have come: the other one has begun.
    assert may_write_when_lost == [False]
    assert candidate.switch.armed_for is not None


async def test_given_a_slow_renewal_then_the_fence_counts_from_when_it_was_sent() -> None:
    clock = ManualClock()
    leases = MemoryLeases(clock, delay=lambda: 1.5)
    candidate = Candidate(leases)
    async with asyncio.TaskGroup() as group:
        group.create_task(candidate.election.acquire(), name="candidate")
        await clock.advance(6)
    # Read there and back until 3, written at 3, answered at 6.
    assert candidate.election.fence.remaining() == pytest.approx(7)
    assert candidate.switch.armed_for == pytest.approx(9.5)


def test_given_no_election_then_writing_is_always_allowed() -> None:
    assert OpenFence().remaining() > 10**9


@pytest.mark.parametrize("seed", range(10))
async def test_given_any_network_and_any_deaths_then_never_two_may_write_and_someone_soon_leads(seed: int) -> None:
    rng, clock = random.Random(seed), ManualClock()
    leases = MemoryLeases(clock)
    leases.delay = lambda: rng.choice([0.0, 0.0, 0.1, 0.6, 2.5, 6.0])
    candidates: list[Candidate] = []
    served = 0.0

    async def live(candidate: Candidate) -> None:
        """Lead until the lease is lost, as a process does; its successor has another name."""
        try:
            async with asyncio.timeout(None):
                await candidate.lead()
        except FencedError:
            assert not candidate.may_write

    async with asyncio.TaskGroup() as group:
        tasks: list[asyncio.Task[None]] = []
        for step in range(300):
            while len([task for task in tasks if not task.done()]) < 3:
                candidates.append(Candidate(leases, f"candidate-{len(candidates)}"))
                tasks.append(group.create_task(live(candidates[-1]), name=candidates[-1].name))
            if rng.random() < 0.01:
                rng.choice(tasks).cancel()
            leases.loses_answers = rng.random() < 0.1
            leases.is_away = step % 100 > 85
            for _ in range(10):
                await clock.advance(0.1)
                writers = [candidate.name for candidate in candidates if candidate.may_write]
                assert len(writers) <= 1, writers
                served += 0.1 * len(writers)
        for task in tasks:
            task.cancel()
        await idle()
    assert served > 60
