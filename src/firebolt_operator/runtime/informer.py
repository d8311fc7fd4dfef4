"""How does a cache stay equal to the server? List once, watch from there, and start over when the server forgot.

Each part of a cache (a namespace, or all of them) has one loop, in which one request follows the other: a list never
runs beside a watch. What comes next:

- a watch that ended is opened again where it ended; one that broke off, or whose part heard nothing for `ask_seconds`,
  after a question for one object: a version below ours tells of a restored backup, whose watches would stay silent;
- a list if the server forgot our version, has gone back or did not answer that question, or if a watch was refused or
  told nothing before it broke off. Where watching is not allowed, a list every REFUSED_SECONDS takes its place.
"""

import asyncio
import logging
import random
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, Generic, Never, TypeVar

from firebolt_operator.errors import ExpiredError, OperatorError, RejectedError, TransientError
from firebolt_operator.kube.ports import Reader
from firebolt_operator.runtime.backoff import Backoff
from firebolt_operator.runtime.cache import Cache, Listing
from firebolt_operator.runtime.clock import Clock, Timer
from firebolt_operator.runtime.followed_part import Counts, FollowedPart, Step

BREATH: Final = 100  # objects taken in before others on the loop get their turn
BREATH_BYTES: Final = 1 << 18  # of these, for the same
SHORT_WATCH: Final = 1.0  # seconds; a watch that ends sooner, empty, is treated as refused
ASK_SECONDS: Final = 300.0
REFUSED_SECONDS: Final = 30.0
BLIND_SECONDS: Final = 300.0  # without a list, an event or an answer: then what is known is too old to act upon
NO_RIGHTS: Final = frozenset({403, 404})

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Informer(Generic[T]):
    """Never ends by itself: whatever the server does, it is asked again.

    `synced` once every part was listed, or is refused while another one was listed.
    """

    cache: Cache[T]
    reader: Reader
    clock: Clock
    rng: random.Random
    page_size: int = 500
    ask_seconds: float = ASK_SECONDS
    synced: asyncio.Event = field(default_factory=asyncio.Event)
    _parts: list[FollowedPart] = field(init=False)

    def __post_init__(self) -> None:
        coverage, now = self.cache.coverage, self.clock.monotonic()
        self._parts = [
            FollowedPart(
                name=name,
                scope=coverage.scope(self.cache.resource, name),
                request_backoff=Backoff(self.rng),
                watch_backoff=Backoff(self.rng),
                heard_at=now,
                answered_at=now,
                could_at=now,
                listed_at=now,
            )
            for name in coverage.parts
        ]

    @property
    def name(self) -> str:
        return self.cache.resource.plural

    @property
    def counts(self) -> Counts:
        return sum((part.counts for part in self._parts), Counts())

    def counts_by_part(self) -> dict[str, Counts]:
        """By namespace; of an informer that covers all of them, under the empty string."""
        return {part.name: part.counts for part in self._parts}

    def refused_parts(self) -> dict[str, bool]:
        """By namespace; of an informer that covers all of them, under the empty string."""
        return {part.name: part.is_refused for part in self._parts}

    def why_unknown(self, namespace: str) -> str:
        """Why nothing may be decided from what is, or is not, in the cache about a namespace; empty if all is well."""
        part = next((each for each in self._parts if each.name in {"", namespace}), None)
        if part is None:
            return ""
        if part.is_refused:
            return f"{part.scope}: the API server refuses to list them"
        if not part.is_listed:
            return f"{part.scope}: not listed yet"
        if part.is_failing and self.clock.monotonic() - part.could_at > BLIND_SECONDS:
            return f"{part.scope}: neither lists nor watches have succeeded for {BLIND_SECONDS:g} s"
        return ""

    def staleness(self) -> float:
        """Seconds since the quietest part was last heard of; bookmarks come every one to ten minutes."""
        return self.clock.monotonic() - min(part.heard_at for part in self._parts)

    def blind_seconds(self) -> float:
        """For how long some part could neither watch nor ask; 0 while it can. Silence alone is not blindness."""
        now = self.clock.monotonic()
        return max(now - part.could_at if part.is_failing else 0.0 for part in self._parts)

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(self._follow(part), name=f"{self.name} {part.name}".strip())
        raise RuntimeError("an informer ended")

    async def refresh(self) -> None:
        """List everything anew: afterwards the cache is at least as new as the moment of the call.

        One of several parts that the server refuses is left out, and `why_unknown` tells so until it could be listed.

        A watch may lag behind by as much as it likes; whoever has just become the one who writes must not start from
        that. The running loops do it, over again until it succeeds.
        """
        for refreshed in [part.refreshed() for part in self._parts]:
            await refreshed

    async def _follow(self, part: FollowedPart) -> Never:
        while True:
            await part.interruption.run(self._turn(part))

    async def _turn(self, part: FollowedPart) -> None:
        """One request to its end, and a wait if it failed."""
        step = part.next_step(self.clock.monotonic(), self.ask_seconds)
        try:
            match step:
                case Step.LIST:
                    await self._list(part)
                case Step.ASK:
                    await self._ask(part)
                case Step.WATCH:
                    await self._watch(part)
        except ExpiredError as err:
            log.info("listing again", extra={"scope": str(part.scope), "reason": str(err)})
            part.must_list = True
            await self.clock.sleep(part.watch_backoff.next_delay())
        except OperatorError as err:
            part.is_failing = True
            await self._failed(part, step, err)

    async def _failed(self, part: FollowedPart, step: Step, err: OperatorError) -> None:
        if step is Step.WATCH and isinstance(err, RejectedError):
            part.counts.refusals += 1
            await self._refused(part, str(err))
            return
        part.counts.failures += 1
        if step is Step.LIST and isinstance(err, RejectedError) and err.status in NO_RIGHTS:
            self._list_refused(part, err)
        # While the server was away anything may have happened to it, even a restored backup that has overtaken us.
        part.must_list = part.must_list or step is not Step.WATCH
        delay = (part.watch_backoff if step is Step.WATCH else part.request_backoff).next_delay()
        fields = {"scope": str(part.scope), "step": step.name, "error": err, "retrySeconds": delay}
        log.warning("watch broken" if step is Step.WATCH else "no answer", extra=fields)
        await self.clock.sleep(delay)

    def _list_refused(self, part: FollowedPart, err: RejectedError) -> None:
        """One namespace without rights must not keep all others waiting; if it is all that we have, there is nothing
        to begin with.
        """
        if not part.is_refused:
            log.error("may not list: nothing is changed there", extra={"scope": str(part.scope), "error": err})
        part.refused(has_others=len(self._parts) > 1)
        self._tell_if_synced()

    def _tell_if_synced(self) -> None:
        is_settled = all(part.is_listed or part.is_refused for part in self._parts)
        if is_settled and any(part.is_listed for part in self._parts):
            self.synced.set()

    async def _refused(self, part: FollowedPart, why: str) -> None:
        part.must_list = True
        due_in = part.listed_at + REFUSED_SECONDS - self.clock.monotonic()
        fields = {"scope": str(part.scope), "error": why, "listEverySeconds": REFUSED_SECONDS}
        log.log(logging.WARNING if part.may_watch else logging.DEBUG, "watch refused", extra=fields)
        part.may_watch = False
        await self.clock.sleep(max(due_in, part.watch_backoff.next_delay()))

    async def _list(self, part: FollowedPart) -> None:
        self.cache.expect_list(part.name)
        listing: Listing | None = None
        async with aclosing(self.reader.pages(part.scope, limit=self.page_size)) as pages:
            async for page in pages:
                listing = listing or self.cache.begin_list(part.name, int(page.resource_version))
                await self._take_in(listing, page.items)
        if listing is None:
            raise ExpiredError(f"listing {part.scope}: no page at all")
        self.cache.end_list(listing)
        part.counts.lists += 1
        if part.is_refused:
            log.info("may list again", extra={"scope": str(part.scope)})
        part.listed(self.clock.monotonic())
        self._tell_if_synced()

    async def _take_in(self, listing: Listing, items: list[bytes]) -> None:
        size = 0
        for number, body in enumerate(items, start=1):
            self.cache.listed(listing, body)
            size += len(body)
            if number % BREATH == 0 or size > BREATH_BYTES:
                size = 0
                await asyncio.sleep(0)

    async def _ask(self, part: FollowedPart) -> None:
        part.counts.asks += 1
        async with aclosing(self.reader.pages(part.scope, limit=1)) as pages:
            page = await anext(pages, None)
        if page is None:
            raise ExpiredError(f"asking for {part.scope}: no page at all")
        part.answered(self.clock.monotonic())
        known = self.cache.watermark(part.name)
        if int(page.resource_version) < known:
            raise ExpiredError(f"versions went back from {known} to {page.resource_version}")

    async def _watch(self, part: FollowedPart) -> None:
        part.counts.watches += 1
        began_at, events = self.clock.monotonic(), part.counts.events
        impatience = _Impatience(self.clock, part, self.ask_seconds)
        try:
            await self._take_in_events(part)
        except TransientError:
            # A watch that tells nothing before it breaks, time after time, must not be all that we rely on.
            part.must_ask, part.must_list = True, part.counts.events == events
            if self._lasted(part, began_at):
                part.could_at = self.clock.monotonic()
            raise
        finally:
            impatience.cancel()
        if not self._lasted(part, began_at) and part.counts.events == events:
            part.counts.short_watches += 1
            await self._refused(part, "it ended at once")

    def _lasted(self, part: FollowedPart, began_at: float) -> bool:
        if self.clock.monotonic() - began_at < SHORT_WATCH:
            return False
        part.may_watch = True
        part.watch_backoff.reset()
        return True

    async def _take_in_events(self, part: FollowedPart) -> None:
        version = str(self.cache.watermark(part.name))
        async with aclosing(self.reader.watch(part.scope, resource_version=version)) as events:
            async for event in events:
                self.cache.watched(part.name, event)
                part.heard(self.clock.monotonic())
                if part.counts.events % BREATH == 0:
                    await asyncio.sleep(0)


class _Impatience:
    """Calls a part away from a watch that has been silent for so long that it is time to ask."""

    def __init__(self, clock: Clock, part: FollowedPart, ask_seconds: float) -> None:
        self._clock = clock
        self._part = part
        self._ask_seconds = ask_seconds
        self._timer: Timer = self._wait()

    def cancel(self) -> None:
        self._timer.cancel()

    def _wait(self) -> Timer:
        due_in = self._part.answered_at + self._ask_seconds - self._clock.monotonic()
        return self._clock.call_later(due_in, self._look)

    def _look(self) -> None:
        # Events only leave their time behind: a timer for each would cost more than the event.
        if self._clock.monotonic() - self._part.answered_at >= self._ask_seconds:
            self._part.interruption.end()
        else:
            self._timer = self._wait()
