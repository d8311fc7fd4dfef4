"""A clock that only moves when the test says so."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class ManualTimer:
    callback: Callable[[], None]
    is_cancelled: bool = False

    def cancel(self) -> None:
        self.is_cancelled = True


@dataclass(slots=True)
class ManualClock:
    elapsed: float = 0.0
    _timers: list[tuple[float, int, ManualTimer]] = field(default_factory=list[tuple[float, int, ManualTimer]])
    _order: "count[int]" = field(default_factory=count)

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float, /) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(seconds, lambda: None if waiter.done() else waiter.set_result(None))
        try:
            await waiter
        finally:
            timer.cancel()

    def call_later(self, seconds: float, callback: Callable[[], None], /) -> ManualTimer:
        timer = ManualTimer(callback)
        heapq.heappush(self._timers, (self.elapsed + max(seconds, 0.0), next(self._order), timer))
        return timer

    @property
    def next_due(self) -> float | None:
        """Seconds until something happens, None if nothing will."""
        while self._timers and self._timers[0][2].is_cancelled:
            heapq.heappop(self._timers)
        return self._timers[0][0] - self.elapsed if self._timers else None

    async def advance(self, seconds: float) -> None:
        """Move on, stopping at every timer on the way so that what it starts can run."""
        until = self.elapsed + seconds
        await idle()
        while (due := self.next_due) is not None and self.elapsed + due <= until:
            when, _, timer = heapq.heappop(self._timers)
            self.elapsed = max(self.elapsed, when)
            timer.callback()
            await idle()
        self.elapsed = until
        await idle()


async def idle() -> None:
    """Let everything run that can run without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)
