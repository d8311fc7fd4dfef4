"""How fast is this machine just now? CPU seconds cost more when others use the same cores and caches."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

EVERY_SECONDS: Final = 1.0
DOCUMENT: Final = msgspec.json.encode({f"key-{number}": {"values": list(range(20))} for number in range(40)})
ROUNDS: Final = 20


@dataclass(slots=True)
class Machine:
    """Samples of what one fixed piece of work costs in CPU time."""

    samples: list[float] = field(default_factory=list[float])

    def slowdown(self, since: int = 0) -> float:
        """The usual cost of the same work as a multiple of its best; 1 on a machine of one's own."""
        recent = sorted(self.samples[since:]) or self.samples
        return recent[len(recent) // 2] / min(self.samples)

    def sample(self) -> None:
        began = time.thread_time()
        for _ in range(ROUNDS):
            decoded = msgspec.json.decode(DOCUMENT)
            sorted(decoded, key=len)
        self.samples.append(time.thread_time() - began)


def busy_seconds() -> float:
    """What all cores of this machine have worked so far, whoever for."""
    user, nice, system, _idle, _waiting, *interrupts = map(
        int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + sum(interrupts[:2])) / os.sysconf("SC_CLK_TCK")


@asynccontextmanager
async def a_watched_machine() -> AsyncGenerator[Machine]:
    machine = Machine()
    for _ in range(5):
        machine.sample()

    async def keep_sampling() -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            machine.sample()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(keep_sampling(), name="machine")
        yield machine
        task.cancel()
