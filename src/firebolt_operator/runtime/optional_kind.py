"""Does the cluster serve a kind that somebody else defines? It may be installed later, and removed again.

The server is asked once, again when the kind's definition appears or goes, and every `ASK_SECONDS` in any case: whoever
may not watch definitions finds out by that alone. While the kind is served, an informer keeps its cache; while it is
not, the cache means nothing.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Final, Generic, Never, TypeVar

from firebolt_operator.errors import OperatorError, RejectedError
from firebolt_operator.evidence import noted
from firebolt_operator.kube.ports import Scope, WatchEvent
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.backoff import Backoff
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.live import fetch_live

ASK_SECONDS: Final = 300.0
SETTLING: Final = (1.0, 2.0, 4.0, 8.0)
"""A definition is there, or gone, a little before the server offers what it defines, or stops to."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class OptionalKind(Generic[T]):
    def __init__(self, cache: Cache[T], following: Following, definitions: Resource | None) -> None:
        """`definitions` is the kind that defines others; None: they are not watched."""
        self.cache = cache
        self.name = f"{cache.resource.plural}, if there are any"
        self.discovered = asyncio.Event()  # the server has answered for the first time
        self._following = following
        self._definitions = definitions
        self._is_served = False
        self._why_unknown: Callable[[str], str] = _not_listed
        self._task: asyncio.Task[Never] | None = None
        self._subscribers: list[Callable[[], None]] = []
        self._due = asyncio.Event()
        self._asked = len(SETTLING)
        self._find_served = self._served

    @property
    def is_served(self) -> bool:
        return noted(self._find_served, self.cache.resource)

    def subscribe(self, subscriber: Callable[[], None]) -> None:
        """Told whenever the kind appears or goes."""
        self._subscribers.append(subscriber)

    async def read(self, ref: Ref, *, is_live: bool = False) -> T | None:
        """From the cache, once it knows; raises UnreadableError where something is there that cannot be decoded."""
        if not self.is_served:
            return None
        key = (ref.namespace, ref.name)
        if is_live or self._why_unknown(ref.namespace) or self.cache.is_suspect(key):
            return await fetch_live(self.cache, self._following.reader, ref)
        return self.cache.known(key)

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            if self._definitions is not None:
                group.create_task(
                    self._watch_definition(self._definitions), name=f"definition of {self.cache.resource.plural}"
                )
            while True:
                await self._look(group)
                await self._rest()

    def _served(self, _resource: object) -> bool:
        return self._is_served

    async def _look(self, group: asyncio.TaskGroup) -> None:
        resource = self.cache.resource
        try:
            offered = await self._following.reader.resources(resource.api_version)
        except OperatorError as err:
            # What was known is kept: it changes rarely, and whoever needs it meanwhile finds out by itself.
            log.warning("discovery failed", extra={"kind": resource.kind, "error": err})
            self._asked = min(self._asked, len(SETTLING) - 1)
            return
        is_served = resource in offered
        if is_served != self._is_served:
            self._turn(group, is_served=is_served)
        self.discovered.set()

    def _turn(self, group: asyncio.TaskGroup, *, is_served: bool) -> None:
        self._is_served = is_served
        self._asked = len(SETTLING)
        log.info("kind is served" if is_served else "kind is not served any more", extra={"kind": self.cache.resource})
        if self._task is not None:
            self._task.cancel()
        self._task, self._why_unknown = None, _not_listed
        if is_served:
            informer = self._following.informer(self.cache)
            self._task, self._why_unknown = group.create_task(informer.run(), name=self.name), informer.why_unknown
        for tell in self._subscribers:
            tell()

    async def _rest(self) -> None:
        delay = SETTLING[self._asked] if self._asked < len(SETTLING) else ASK_SECONDS
        self._asked += 1
        timer = self._following.clock.call_later(delay, self._due.set)
        await self._due.wait()
        timer.cancel()
        self._due.clear()

    async def _watch_definition(self, definitions: Resource) -> Never:
        backoff = Backoff(self._following.rng)
        while True:
            try:
                await self._hear(definitions, backoff)
            except RejectedError as err:
                log.info("may not watch definitions", extra={"askSeconds": ASK_SECONDS, "error": err})
                await self._following.clock.sleep(ASK_SECONDS)
            except OperatorError as err:
                log.warning("watch of a definition broken", extra={"error": err})
                await self._following.clock.sleep(backoff.next_delay())
            else:
                await self._following.clock.sleep(backoff.next_delay())

    async def _hear(self, definitions: Resource, backoff: Backoff) -> None:
        resource = self.cache.resource
        name = f"metadata.name={resource.plural}.{resource.group}"
        scope = Scope(resource=definitions, fields=name)
        # Without a version the server begins with what there is.
        async with aclosing(self._following.reader.watch(scope, resource_version="")) as events:
            async for event in events:
                backoff.reset()
                self._doubt(event)

    def _doubt(self, event: WatchEvent) -> None:
        if event.type != "BOOKMARK" and self._is_served != (event.type != "DELETED"):
            self._asked = 0
            self._due.set()


def _not_listed(namespace: str) -> str:
    return f"nothing was listed in {namespace} yet"
