"""Does the event loop come to what is due in time? A timer tells, by how late it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Never

from firebolt_operator.runtime.clock import Clock

EVERY_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class LoopLag:
    """A service."""

    clock: Clock
    lagged: Callable[[float], None]  # told in seconds
    name: str = "event loop lag"

    async def run(self) -> Never:
        while True:
            due_at = self.clock.monotonic() + EVERY_SECONDS
            await self.clock.sleep(EVERY_SECONDS)
            self.lagged(max(self.clock.monotonic() - due_at, 0.0))
