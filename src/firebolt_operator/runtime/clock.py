"""What time is it, and how long until then? Injected everywhere, so that tests own time."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    def now(self) -> datetime:
        """The wall clock, aware of its zone."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back and that count a suspended machine's sleep."""
        ...

    async def sleep(self, seconds: float, /) -> None: ...

    def call_later(self, seconds: float, callback: Callable[[], None], /) -> Timer: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), tz=UTC)

    def monotonic(self) -> float:
        # A lease goes on running while the machine is suspended; CLOCK_MONOTONIC would not notice.
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], None], /) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, callback)
