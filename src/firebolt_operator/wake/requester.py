"""How does the operator learn that somebody waits? The agent writes one annotation on the engine, nothing else."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, Never, Protocol

from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import ForbiddenError, NotFoundError, OperatorError
from firebolt_operator.kube.ports import Writer
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.wake_books import WakeBooks
from firebolt_operator.wake.decide.wake_requests import Claim, WakeRequests
from firebolt_operator.wake.holds import Ending
from firebolt_operator.wake.unwakeable import is_stopped_by_owner

MOST_AT_ONCE: Final = 8
STRANGERS_AT_ONCE: Final = 2  # of their own: a slow API server must not make known engines wait for made-up names
FIRST_RETRY_SECONDS: Final = 0.5
LONGEST_RETRY_SECONDS: Final = 30.0

log = logging.getLogger(__name__)


class StampResult(StrEnum):
    STAMPED = "stamped"
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    FAILED = "failed"


class StampRecorder(Protocol):
    def stamp(self, result: StampResult, /) -> None: ...


@dataclass(slots=True)
class WakeRequester:
    """A hold waits for the engine, not for the stamp: of what happens here only a plain "no" reaches it."""

    writer: Writer
    namespace: str
    clock: Clock
    books: WakeBooks
    recorder: StampRecorder
    refuse: Callable[[str, Ending], None]  # this engine cannot be woken
    name: str = "wake requester"
    _known_news: asyncio.Event = field(default_factory=asyncio.Event)
    _strangers_news: asyncio.Event = field(default_factory=asyncio.Event)

    def demand(self, engine: str) -> bool:
        """Says whether the engine will be asked for: there is not room for every name that clients make up."""
        requests = self.books.book_of(engine)
        if requests.demand(engine, now=self.clock.monotonic()):
            self._tell()
        return engine in requests

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._stamp_strangers(), name="stamps on strangers")
            await self._stamp_due(self.books.known, self._known_news, MOST_AT_ONCE)

    async def _stamp_strangers(self) -> Never:
        await self._stamp_due(self.books.strangers, self._strangers_news, STRANGERS_AT_ONCE)

    async def _stamp_due(self, requests: WakeRequests, news: asyncio.Event, most_at_once: int) -> Never:
        room = asyncio.Semaphore(most_at_once)
        async with asyncio.TaskGroup() as group:
            while True:
                await room.acquire()
                claim = await self._next_claim(requests, news)
                task = group.create_task(self._stamp(claim, requests), name=f"stamp on {claim.engine}")
                task.add_done_callback(lambda _: room.release())

    async def _next_claim(self, requests: WakeRequests, news: asyncio.Event) -> Claim:
        while True:
            news.clear()
            now = self.clock.monotonic()
            claim = requests.claim(now=now)
            if claim is not None:
                return claim
            due_at = requests.next_due_at()
            timer = None if due_at is None else self.clock.call_later(due_at - now, news.set)
            await news.wait()
            if timer is not None:
                timer.cancel()

    def forget(self, engine: str) -> None:
        """It came up: the next query that finds it gone is a new request."""
        for requests in (self.books.known, self.books.strangers):
            requests.forget(engine)

    async def _stamp(self, claim: Claim, requests: WakeRequests) -> None:
        try:
            stamped = await self.writer.merge_patch(
                Ref(FIREBOLT_ENGINES, self.namespace, claim.engine), self._patch(claim)
            )
        except OperatorError as err:
            self._failed(claim.engine, requests, err)
        else:
            self._stamped(claim.engine, requests, stamped)
        # What was settled may be due before anything that the loops sleep for.
        self._tell()

    def _stamped(self, engine: str, requests: WakeRequests, stamped: Manifest) -> None:
        self.recorder.stamp(StampResult.STAMPED)
        now = self.clock.monotonic()
        if is_stopped_by_owner(stamped):
            log.info("stopped by its owner", extra={"engine": engine})
            requests.refused(engine, now=now)
            self.refuse(engine, Ending.STOPPED)
        else:
            log.info("wake requested", extra={"engine": engine})
            requests.stamped(engine, now=now)
        self.books.accept(engine, now=now)

    def _failed(self, engine: str, requests: WakeRequests, err: OperatorError) -> None:
        now = self.clock.monotonic()
        # A 404 without a reason is about the path: the server, or something in front of it, does not know the kind.
        if isinstance(err, NotFoundError) and err.reason == "NotFound":
            self.recorder.stamp(StampResult.MISSING)
            log.info("no such engine", extra={"engine": engine})
            requests.refused(engine, now=now)
            self.books.deny(engine)
            self.refuse(engine, Ending.MISSING)
            return
        self.recorder.stamp(StampResult.FORBIDDEN if isinstance(err, ForbiddenError) else StampResult.FAILED)
        delay = retry_delay(requests.failures(engine))
        log.warning("engine not stamped", extra={"engine": engine, "error": err, "retrySeconds": delay})
        requests.failed(engine, now=now, delay=delay)

    def _tell(self) -> None:
        self._known_news.set()
        self._strangers_news.set()

    def _patch(self, claim: Claim) -> Manifest:
        age = timedelta(seconds=self.clock.monotonic() - claim.asked_at)
        return wake_request(self.clock.now() - age)


def wake_request(asked_at: datetime) -> Manifest:
    """A merge patch: without a resourceVersion it meets no conflict, and it touches nothing but the annotation."""
    value = asked_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"metadata": {"annotations": {names.ANNOTATION_WAKE_REQUESTED: value}}}


def retry_delay(failures: int) -> float:
    """Seconds; doubles with every failure in a row."""
    return min(FIRST_RETRY_SECONDS * 2.0 ** min(failures, 16), LONGEST_RETRY_SECONDS)
