"""Many requests at once, bounded."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

IN_FLIGHT: Final = 24


async def for_each(count: int, once: Callable[[int], Awaitable[object]]) -> None:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await once(number)

    async with asyncio.TaskGroup() as group:
        for index in range(min(IN_FLIGHT, count)):
            group.create_task(worker(), name=f"worker {index}")
