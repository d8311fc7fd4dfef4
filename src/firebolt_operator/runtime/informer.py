"""How does a cache stay equal to the server? List once, watch from there, and start over when the server forgot."""

import asyncio
import logging
import random
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Generic, Never, TypeVar

from firebolt_operator.errors import ExpiredError, OperatorError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.runtime.backoff import Backoff
from firebolt_operator.runtime.cache import Cache, Listing
from firebolt_operator.runtime.clock import Clock

BREATH: Final = 100  # objects taken in before others on the loop get their turn
SHORT_WATCH: Final = 1.0  # seconds; a watch that ends sooner, empty, is treated as refused

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Part:
    """One list and watch: a namespace, or all of them."""

    name: str
    scope: Scope
    backoff: Backoff
    heard_at: float
    must_list: bool = True


@dataclass(slots=True)
class Counts:
    """What happened so far, for metrics."""

    lists: int = 0
    watches: int = 0
    events: int = 0
    failures: int = 0


@dataclass(slots=True)
class Informer(Generic[T]):
    """Never ends by itself: whatever the server does, it is asked again."""

    cache: Cache[T]
    reader: Reader
    clock: Clock
    rng: random.Random
    page_size: int = 500
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    counts: Counts = field(default_factory=Counts)
    _parts: list[_Part] = field(init=False)

    def __post_init__(self) -> None:
        coverage, now = self.cache.coverage, self.clock.monotonic()
        self._parts = [
            _Part(name, coverage.scope(self.cache.resource, name), Backoff(self.rng), now) for name in coverage.parts
        ]

    @property
    def name(self) -> str:
        return self.cache.resource.plural

    def staleness(self) -> float:
        """Seconds since the quietest part was last heard of; a bookmark comes about every minute."""
        return self.clock.monotonic() - min(part.heard_at for part in self._parts)

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(self._follow(part), name=f"{self.name} {part.name}".strip())
        raise RuntimeError("an informer ended")

    async def refresh(self) -> None:
        """List everything anew: afterwards the cache is at least as new as the moment of the call.

        A watch may lag behind by as much as it likes. Whoever has just become the one who writes must not start from
        that; raises what the list raises.
        """
        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(self._list(part), name=f"refresh {self.name} {part.name}".strip())

    async def _follow(self, part: _Part) -> Never:
        while True:
            try:
                await self._list_and_watch(part)
            except ExpiredError as err:
                log.info("listing again", extra={"scope": str(part.scope), "reason": str(err)})
                part.must_list = True
                await self.clock.sleep(part.backoff.next_delay())
            except OperatorError as err:
                self.counts.failures += 1
                delay = part.backoff.next_delay()
                log.warning("watch broken", extra={"scope": str(part.scope), "error": err, "retrySeconds": delay})
                await self.clock.sleep(delay)

    async def _list_and_watch(self, part: _Part) -> None:
        if part.must_list:
            await self._list(part)
        began_at, events = self.clock.monotonic(), self.counts.events
        await self._watch(part)
        is_empty = self.counts.events == events
        if is_empty and self.clock.monotonic() - began_at < SHORT_WATCH:
            await self.clock.sleep(part.backoff.next_delay())

    async def _list(self, part: _Part) -> None:
        listing: Listing | None = None
        async with aclosing(self.reader.pages(part.scope, limit=self.page_size)) as pages:
            async for page in pages:
                listing = listing or self.cache.begin_list(part.name, int(page.resource_version))
                for number, body in enumerate(page.items, start=1):
                    self.cache.listed(listing, body)
                    if number % BREATH == 0:
                        await asyncio.sleep(0)
        if listing is None:
            raise ExpiredError(f"listing {part.scope}: no page at all")
        self.cache.end_list(listing)
        self.counts.lists += 1
        part.must_list = False
        self._heard(part)
        if self.cache.is_synced:
            self.synced.set()

    async def _watch(self, part: _Part) -> None:
        version = str(self.cache.watermark(part.name))
        self.counts.watches += 1
        async with aclosing(self.reader.watch(part.scope, resource_version=version)) as events:
            async for event in events:
                self.cache.watched(part.name, event)
                self._heard(part)
                self.counts.events += 1
                if self.counts.events % BREATH == 0:
                    await asyncio.sleep(0)

    def _heard(self, part: _Part) -> None:
        part.heard_at = self.clock.monotonic()
        part.backoff.reset()
