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
from firebolt_operator.wake.decide.wake_requests import Claim, WakeRequests
from firebolt_operator.wake.holds import Ending
from firebolt_operator.wake.unwakeable import is_stopped_by_owner

MOST_AT_ONCE: Final = 8
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
    requests: WakeRequests
    recorder: StampRecorder
    refuse: Callable[[str, Ending], None]  # this engine cannot be woken
    name: str = "wake requester"
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def demand(self, engine: str) -> None:
        if self.requests.demand(engine, now=self.clock.monotonic()):
            self._news.set()

    async def run(self) -> Never:
        room = asyncio.Semaphore(MOST_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                await room.acquire()
                claim = await self._next_claim()
                task = group.create_task(self._stamp(claim), name=f"stamp on {claim.engine}")
                task.add_done_callback(lambda _: room.release())

    async def _next_claim(self) -> Claim:
        while True:
            self._news.clear()
            now = self.clock.monotonic()
            claim = self.requests.claim(now=now)
            if claim is not None:
                return claim
            due_at = self.requests.next_due_at()
            timer = None if due_at is None else self.clock.call_later(due_at - now, self._news.set)
            await self._news.wait()
            if timer is not None:
                timer.cancel()

    def forget(self, engine: str) -> None:
        """It came up; that leaves room for somebody else's."""
        self.requests.forget(engine)
        self._news.set()

    async def _stamp(self, claim: Claim) -> None:
        try:
            stamped = await self.writer.merge_patch(
                Ref(FIREBOLT_ENGINES, self.namespace, claim.engine), self._patch(claim)
            )
        except OperatorError as err:
            self._failed(claim.engine, err)
        else:
            self._stamped(claim.engine, stamped)
        # What was settled may be due before anything that the loop sleeps for.
        self._news.set()

    def _stamped(self, engine: str, stamped: Manifest) -> None:
        self.recorder.stamp(StampResult.STAMPED)
        if is_stopped_by_owner(stamped):
            log.info("stopped by its owner", extra={"engine": engine})
            self._refused(engine, Ending.STOPPED)
            return
        log.info("wake requested", extra={"engine": engine})
        self.requests.stamped(engine, now=self.clock.monotonic())

    def _failed(self, engine: str, err: OperatorError) -> None:
        # A 404 without a reason is about the path: the server, or something in front of it, does not know the kind.
        if isinstance(err, NotFoundError) and err.reason == "NotFound":
            self.recorder.stamp(StampResult.MISSING)
            log.info("no such engine", extra={"engine": engine})
            self._refused(engine, Ending.MISSING)
            return
        self.recorder.stamp(StampResult.FORBIDDEN if isinstance(err, ForbiddenError) else StampResult.FAILED)
        delay = retry_delay(self.requests.failures(engine))
        log.warning("engine not stamped", extra={"engine": engine, "error": err, "retrySeconds": delay})
        self.requests.failed(engine, now=self.clock.monotonic(), delay=delay)

    def _refused(self, engine: str, how: Ending) -> None:
        self.requests.refused(engine, now=self.clock.monotonic())
        self.refuse(engine, how)

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
