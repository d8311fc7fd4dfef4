"""What happens to a question "may this query go on"? Answered at once, or held until the engine is ready."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.answers import READY, REJECTED, RELEASED, SHED, UNSYNCED, Answer, is_engine_name
from firebolt_operator.wake.decide.capacity import has_room, has_room_for_strangers
from firebolt_operator.wake.decide.wake_books import WakeBooks
from firebolt_operator.wake.hold_times import LEFT, HoldTimes
from firebolt_operator.wake.holds import REFUSALS, Ending, Holds, Waiter
from firebolt_operator.wake.readiness import Readiness
from firebolt_operator.wake.unwakeable import UnwakeableEngines


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldHandler:
    readiness: Readiness
    holds: Holds
    unwakeable: UnwakeableEngines
    demand: Callable[[str], bool]  # somebody wants an engine that has no endpoint; False: nobody will ask for it
    books: WakeBooks
    hold_began: Callable[[str], None]
    cap: Callable[[], int]
    clock: Clock
    hold_timeout: timedelta
    times: HoldTimes

    async def answer(self, engine: str) -> Answer:
        """Cancelled when the caller leaves: the hold ends with it."""
        answer = self._at_once(engine)
        if answer is SHED:
            self.times.recorder.shed(engine)
        return answer or await self._held(engine)

    def vanished(self, engine: str) -> None:
        """Its endpoints went before Envoy knew them: nobody asks for it any more, and who waits for it still does."""
        if self.holds.count(engine):
            self.demand(engine)

    def _at_once(self, engine: str) -> Answer | None:
        if not is_engine_name(engine):
            return REJECTED
        if not self.readiness.is_synced:
            # Without the API server all engines look stopped; holding everything would be an outage.
            return UNSYNCED
        if self.readiness.is_ready(engine):
            return READY
        return self._refused(engine)

    def _refused(self, engine: str) -> Answer | None:
        if not self.readiness.has_endpoints(engine):
            refusal = self.unwakeable.of(engine)
            if refusal is not None:
                return refusal
            # Before the cap: a burst that is refused must wake the engine as well.
            if not self.demand(engine):
                return SHED
        return None if self._has_room(engine) else SHED

    def _has_room(self, engine: str) -> bool:
        holds, books, cap = self.holds, self.books, self.cap()
        if not has_room(holds.total, holds.count(engine), cap):
            return False
        return engine not in books.strangers or has_room_for_strangers(books.held_by_strangers(holds.count), cap)

    async def _held(self, engine: str) -> Answer:
        began_at, outcome = self.times.began(engine), LEFT
        try:
            with self._waiting(engine) as waiter:
                ending = await waiter.ended
            readiness = self.readiness
            answer = decide_end(ending, is_ready=readiness.is_ready(engine), is_synced=readiness.is_synced)
            outcome = answer.decision
            return answer
        finally:
            self.times.ended(engine, outcome, began_at)

    @contextmanager
    def _waiting(self, engine: str) -> Generator[Waiter]:
        waiter = self.holds.join(engine)
        timer = self.clock.call_later(self.hold_timeout.total_seconds(), lambda: waiter.end(Ending.EXPIRED))
        try:
            self.hold_began(engine)
            yield waiter
        finally:
            timer.cancel()
            self.holds.leave(waiter)


def decide_end(ending: Ending, *, is_ready: bool, is_synced: bool) -> Answer:
    """What counts is whether the engine is ready now: it may have gone away since, or have come just in time."""
    if is_ready:
        return RELEASED
    if ending is Ending.EXPIRED and not is_synced:
        # Who cannot see cannot say that the engine did not come: the query finds out by itself.
        return UNSYNCED
    return REFUSALS[ending]
