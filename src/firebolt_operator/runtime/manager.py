"""In which order does everything start, and how does it all come down again?"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final, Protocol

from firebolt_operator.errors import FencedError, OperatorError
from firebolt_operator.runtime.controller import leaves
from firebolt_operator.runtime.servers import Server

SYNC_SECONDS: Final = 120.0
# Together below the ten seconds that the process has between SIGTERM and SIGKILL.
FINISH_SECONDS: Final = 5.0  # for passes under way
CANCEL_SECONDS: Final = 1.0  # for passes that had to be cancelled

log = logging.getLogger(__name__)


class Syncing(Protocol):
    """An informer."""

    @property
    def name(self) -> str: ...
    @property
    def synced(self) -> asyncio.Event: ...
    async def run(self) -> object: ...
    async def refresh(self) -> None:
        """Tried again until it succeeds."""
        ...


class Service(Protocol):
    """Runs on every replica, leader or not, and never ends by itself."""

    @property
    def name(self) -> str: ...
    async def run(self) -> object: ...


class Working(Protocol):
    """A controller."""

    @property
    def name(self) -> str: ...
    async def run(self) -> None: ...
    def close(self) -> None: ...


class Leading(Protocol):
    """An election."""

    async def acquire(self) -> None: ...
    async def hold(self) -> object: ...
    async def release(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    servers: Sequence[Server] = ()
    informers: Sequence[Syncing] = ()
    services: Sequence[Service] = ()
    controllers: Sequence[Working] = ()
    election: Leading | None = None  # None: nobody else writes, so work begins at once
    sync_seconds: float = SYNC_SECONDS
    synced: Callable[[], None] = lambda: None  # called once the caches are filled

    async def run_until(self, stop: asyncio.Event) -> int:
        """The exit code: 0 after an orderly stop, 1 if anything went wrong."""
        try:
            await self._run(stop)
        except Exception as err:  # noqa: BLE001 - the last place where an error can be told
            return _tell(err)
        log.info("stopped")
        return 0

    async def _run(self, stop: asyncio.Event) -> None:
        async with AsyncExitStack() as stack:
            # Servers first: probes want an answer while the caches fill.
            for server in self.servers:
                await server.start()
                stack.push_async_callback(server.stop)
            async with asyncio.TaskGroup() as group:
                background = [
                    group.create_task(_for_ever(service), name=service.name)
                    for service in (*self.informers, *self.services)
                ]
                await self._lead(stop)
                for task in background:
                    task.cancel()

    async def _lead(self, stop: asyncio.Event) -> None:
        await _unless(stop, self._sync())
        self.synced()
        if self.election is None:
            await self._work(stop)
            return
        await _unless(stop, self.election.acquire())
        if stop.is_set():
            await self.election.release()  # it may have been won at the very moment
            return
        async with asyncio.TaskGroup() as group:
            holding = group.create_task(self.election.hold(), name="lease")
            # What the former leader wrote last may still be on its way to our caches.
            await _unless(stop, self._refresh())
            await self._work(stop)
            holding.cancel()
        # Not before the last pass has ended: the next leader begins at once.
        await self.election.release()

    async def _sync(self) -> None:
        try:
            async with asyncio.timeout(self.sync_seconds):
                for informer in self.informers:
                    await informer.synced.wait()
        except TimeoutError as err:
            missing = ", ".join(informer.name for informer in self.informers if not informer.synced.is_set())
            raise OperatorError(f"caches not synced within {self.sync_seconds:g} s: {missing}") from err

    async def _refresh(self) -> None:
        """For as long as the lease is held: if this process gave up, the next one would have to wait as well."""
        async with asyncio.TaskGroup() as group:
            for informer in self.informers:
                group.create_task(informer.refresh(), name=f"refresh {informer.name}")

    async def _work(self, stop: asyncio.Event) -> None:
        if stop.is_set():
            return
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(controller.run(), name=controller.name) for controller in self.controllers]
            await stop.wait()
            for controller in self.controllers:
                controller.close()
            late = await _ended(working, within=FINISH_SECONDS)
            for task in late:
                log.warning("passes cancelled", extra={"controller": task.get_name()})
                task.cancel()
            if await _ended(late, within=CANCEL_SECONDS):
                raise OperatorError("passes did not end in time")


async def _for_ever(service: Syncing | Service) -> None:
    await service.run()
    raise RuntimeError(f"{service.name} ended by itself")


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do it, or until then: whichever comes first."""
    async with asyncio.TaskGroup() as group:
        working = group.create_task(work, name="work")
        stopping = group.create_task(stop.wait(), name="stop")
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        stopping.cancel()


async def _ended(tasks: Sequence[asyncio.Task[None]], *, within: float) -> list[asyncio.Task[None]]:
    """Those that did not end."""
    if not tasks:
        return []
    _, late = await asyncio.wait(tasks, timeout=within)
    return [task for task in tasks if task in late]


def _tell(err: Exception) -> int:
    causes = leaves(err)
    for cause in causes:
        if isinstance(cause, FencedError):
            log.error("leadership lost", extra={"error": cause})
        elif isinstance(cause, OperatorError):
            log.error("cannot go on", extra={"error": cause})
        else:
            log.error("cannot go on", extra={"error": cause}, exc_info=cause)
    return 1
