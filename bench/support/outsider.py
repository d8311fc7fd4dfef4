"""Asks the watcher process; see watcher.py."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from bench.support.watcher import Answer, Question

LONGEST_SECONDS: Final = 3600.0  # for thousands of engines on two cores
ANSWER_LIMIT: Final = 1 << 22  # bytes


@dataclass(frozen=True, slots=True)
class Outsider:
    process: Process

    async def until_at_rest(self, count: int, generation: int) -> float:
        """When so many engines rested on that generation or a later one."""
        return (await self._ask(Question("rest", count, generation))).at

    async def until_pods_ready(self, count: int, generation: int) -> float:
        """When all pods of that generation were ready in so many engines."""
        return (await self._ask(Question("pods", count, generation))).at

    async def switch_delays(self, generation: int) -> dict[str, float]:
        """Seconds from the last pod ready to the selector written, by engine."""
        return (await self._ask(Question("report", generation=generation))).delays

    async def _ask(self, question: Question) -> Answer:
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the watcher was started without pipes")
        stdin.write(msgspec.json.encode(question) + b"\n")
        async with asyncio.timeout(LONGEST_SECONDS):
            line = await stdout.readline()
        return msgspec.json.decode(line, type=Answer)


@asynccontextmanager
async def an_outsider(kubeconfig: Path, namespace: str) -> AsyncGenerator[Outsider]:
    command = [sys.executable, "-m", "bench.support.watcher", str(kubeconfig), namespace]
    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, env=environment, limit=ANSWER_LIMIT
    )
    try:
        yield Outsider(process)
    finally:
        process.kill()
        await process.wait()
