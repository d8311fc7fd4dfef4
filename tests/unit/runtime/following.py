"""An informer over a server in memory, on a clock that the test moves."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import ASK_SECONDS, Informer
from tests.support.manual_clock import ManualClock, idle
from tests.unit.runtime.builders import PODS, Pod, decode_pod
from tests.unit.runtime.memory_reader import MemoryReader


@dataclass(frozen=True)
class Setting:
    reader: MemoryReader
    clock: ManualClock
    informer: Informer[Pod]

    @property
    def names(self) -> list[str]:
        return [pod.metadata.name for pod in self.informer.cache.values()]


@asynccontextmanager
async def following(
    reader: MemoryReader, coverage: Coverage | None = None, ask_seconds: float = ASK_SECONDS
) -> AsyncGenerator[Setting]:
    clock = ManualClock()
    cache = Cache(PODS, decode_pod, coverage=coverage or Coverage())
    informer = Informer(cache, reader, clock, random.Random(1), page_size=2, ask_seconds=ask_seconds)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run(), name="informer")
        await idle()
        yield Setting(reader, clock, informer)
        task.cancel()
