"""A port of this machine that leads to a Service, for as long as somebody needs it."""

import asyncio
import contextlib
import re
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from kubectl_firebolt.errors import PluginError
from kubectl_firebolt.kubectl.follow import started
from kubectl_firebolt.kubectl.invocation import Invocation
from kubectl_firebolt.kubectl.run import Kubectl

_BOUND: Final = re.compile(rb"Forwarding from 127\.0\.0\.1:(\d+) ->")
_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class Forwarded:
    port: int
    process: Process

    async def ended(self) -> None:
        """Raises when it does: nobody but us should end it."""
        code = await self.process.wait()
        raise PluginError(f"kubectl port-forward ended: exit status {code}; see its message above")


@asynccontextmanager
async def forwarded(kubectl: Kubectl, invocation: Invocation) -> AsyncGenerator[Forwarded]:
    """What kubectl complains about goes where our complaints go."""
    async with started(kubectl, invocation, stderr=None) as process, asyncio.TaskGroup() as group:
        port = await _port(process)
        draining = group.create_task(_drain(process), name="drain port-forward")
        yield Forwarded(port, process)
        draining.cancel()


async def _port(process: Process) -> int:
    if process.stdout is None:
        raise RuntimeError("a process without pipes")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS):
            while words := await process.stdout.readline():
                if found := _BOUND.search(words):
                    return int(found[1])
            code = await process.wait()
            raise PluginError(
                f"kubectl port-forward ended before it was ready: exit status {code}; see its message above"
            )
    raise PluginError(f"kubectl port-forward was not ready within {_SECONDS:g} s")


async def _drain(process: Process) -> None:
    """A full pipe would stop kubectl."""
    while process.stdout is not None and await process.stdout.readline():
        pass
