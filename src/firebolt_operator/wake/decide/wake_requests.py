"""For which engine is a wake request due, and when again? Pure: no clock, no API server.

One stamp tells for everybody who waits: per engine one when somebody asks, and one every thirty seconds while holds
wait. An engine that was ready since then is asked for anew at once.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from firebolt_operator.pace import Pace

REFRESH_SECONDS: Final = 30.0
REFUSED_SECONDS: Final = 5.0  # an engine that does not exist is not looked for more often
LIFETIME_SECONDS: Final = 300.0  # the operator takes no older request


@dataclass(slots=True, eq=False)
class _Demand:
    asked_at: float
    is_owed: bool = True  # not stamped yet
    is_claimed: bool = False  # somebody is stamping it
    is_forgotten: bool = False
    is_new: bool = False  # asked for again after it was forgotten, while its last stamp was under way
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A stamp to be written now; exactly one of `stamped`, `refused` and `failed` must follow."""

    engine: str
    asked_at: float  # the instant to stamp


IsWaiting = Callable[[str], bool]


@dataclass(slots=True)
class WakeRequests:
    """All instants are seconds on one clock that never goes back."""

    is_waiting: IsWaiting  # whether a hold for this engine waits
    most: int | None = None  # names at once; None where the names do not come from clients
    pace: Pace | None = None  # how often a stamp may be written; None: as soon as it is due
    dropped: int = 0  # requests for names beyond the limit
    _demands: dict[str, _Demand] = field(default_factory=dict[str, _Demand])
    _due: list[tuple[float, int, str, _Demand]] = field(default_factory=list[tuple[float, int, str, _Demand]])
    _order: "count[int]" = field(default_factory=count)

    def __len__(self) -> int:
        return len(self._demands)

    def __contains__(self, engine: object) -> bool:
        return engine in self._demands

    @property
    def engines(self) -> Iterable[str]:
        return self._demands.keys()

    def demand(self, engine: str, *, now: float) -> bool:
        """Somebody asks; says whether that makes a stamp due."""
        known = self._demands.get(engine)
        if known is not None:
            known.asked_at = now
            if known.is_forgotten:
                known.is_forgotten, known.is_new = False, True
            return False
        if self.most is not None and len(self._demands) >= self.most:
            self.dropped += 1
            return False
        self._demands[engine] = _Demand(now)
        self._schedule(engine, now)
        return True

    def take_over(self, engine: str, *, now: float) -> None:
        """From another book, which has just stamped it; whoever waits for it goes on waiting."""
        if engine not in self._demands:
            self._demands[engine] = _Demand(now, is_owed=False)
            self._schedule(engine, now + REFRESH_SECONDS)

    def next_due_at(self) -> float | None:
        if not self._due:
            return None
        due_at = self._due[0][0]
        return due_at if self.pace is None else max(due_at, self.pace.free_at)

    def claim(self, *, now: float) -> Claim | None:
        """The next stamp that is due; engines that nobody waits for any more are forgotten on the way."""
        if self.pace is not None and self.pace.free_at > now:
            return None
        claim = self._next(now)
        if claim is not None and self.pace is not None:
            self.pace.take(now)
        return claim

    def _next(self, now: float) -> Claim | None:
        while self._due and self._due[0][0] <= now:
            _, _, engine, demand = heapq.heappop(self._due)
            if demand.is_forgotten:
                continue
            if self.is_waiting(engine):
                demand.asked_at = now
            elif not demand.is_owed or now - demand.asked_at >= LIFETIME_SECONDS:
                self.forget(engine)
                continue
            demand.is_claimed = True
            return Claim(engine, demand.asked_at)
        return None

    def stamped(self, engine: str, *, now: float) -> None:
        self._settle(engine, now + REFRESH_SECONDS, failures=0)

    def refused(self, engine: str, *, now: float) -> None:
        """It cannot be woken; whoever waits is told, and whoever asks later may hear otherwise."""
        if self.most is not None:
            self.forget(engine)  # others need the place; how often anybody is looked for is a matter of pace
        self._settle(engine, now + REFUSED_SECONDS, failures=0)

    def failed(self, engine: str, *, now: float, delay: float) -> None:
        """The demand stays owed, also when nobody waits any more: a client that left still wants its engine."""
        self._settle(engine, now + delay, failures=self.failures(engine) + 1)

    def failures(self, engine: str) -> int:
        """In a row."""
        demand = self._demands.get(engine)
        return 0 if demand is None else demand.failures

    def forget(self, engine: str) -> None:
        """Its endpoints are there, or nobody wants it: the next request is a new one."""
        demand = self._demands.get(engine)
        if demand is None:
            return
        demand.is_forgotten = True
        if not demand.is_claimed:
            del self._demands[engine]

    def _settle(self, engine: str, due_at: float, *, failures: int) -> None:
        demand = self._demands[engine]
        if demand.is_forgotten:
            del self._demands[engine]
            return
        self._schedule(engine, demand.asked_at if demand.is_new else due_at)
        demand.is_owed = demand.is_new or failures > 0
        demand.is_claimed = demand.is_new = False
        demand.failures = failures

    def _schedule(self, engine: str, due_at: float) -> None:
        heapq.heappush(self._due, (due_at, next(self._order), engine, self._demands[engine]))
