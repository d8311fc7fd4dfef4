"""How is a task called away from what it waits for, without being ended?"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Interruption:
    _scope: asyncio.Timeout | None = field(default=None, init=False)

    async def run(self, work: Awaitable[None]) -> None:
        """Until it is done, or until someone calls `end`: whoever does that says elsewhere what is to be done next."""
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._scope = scope
                await work
        except TimeoutError:
            if not scope.expired():
                raise
        finally:
            self._scope = None

    def end(self) -> None:
        """Nothing happens if nothing runs."""
        if self._scope is not None and not self._scope.expired():
            self._scope.reschedule(0.0)
