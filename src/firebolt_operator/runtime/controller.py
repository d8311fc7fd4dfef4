"""How does a key become a pass? Bounded workers, a deadline for each pass, and an answer to every way it can end."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Generic, Literal, Protocol, TypeVar, cast

from firebolt_operator.errors import FencedError, OperatorError, SpecRejectedError, TransientError
from firebolt_operator.look_again import WHEN_CHANGED, After, AtOnce, LookAgain, WhenChanged
from firebolt_operator.observability.logs import log_context
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.objects import Aside, Key
from firebolt_operator.runtime.work_queue import Job, Priority, WorkQueue

PASS_DEADLINE: Final = timedelta(minutes=2)  # each request has its own, shorter one; this bounds their sum
MOST_IN_A_ROW: Final = 3  # urgent passes of one key without a turn for others

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")
Result = Literal["success", "error", "requeue", "requeue_after"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a pass came to, and when the next one is due."""

    reason: str
    look_again: LookAgain = WHEN_CHANGED
    is_settled: bool = False  # whoever reads the same comes to the same, whatever the time: `look_again` is no deadline


Reconcile = Callable[[K], Awaitable[Outcome]]
Requests = Iterable[tuple[Key, Priority]]
"""Which objects get a pass, and how urgently."""
Mapper = Callable[[T | None, T | None], Iterable[tuple[K, Priority]]]
"""Which keys a change (old, new) concerns, and how urgently."""


class PassRecorder(Protocol):
    """Told of every pass, for metrics; durations in seconds."""

    def began(self) -> None: ...
    def ended(self, result: Result, seconds: float, /) -> None: ...
    def rejected(self) -> None: ...
    def timed_out(self) -> None: ...
    def crashed(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class ControllerSettings(Generic[K]):
    name: str
    describe: Callable[[K], Mapping[str, object]]  # a key as log fields
    workers: int = 8
    urgent_workers: int = 1  # take nothing but urgent keys, so that these never wait behind slow passes
    pass_deadline: timedelta = PASS_DEADLINE


@dataclass(slots=True)
class Controller(Generic[K]):
    settings: ControllerSettings[K]
    reconcile: Reconcile[K]
    queue: WorkQueue[K]
    recorder: PassRecorder
    clock: Clock
    _last_reasons: dict[K, str] = field(default_factory=dict[K, str])

    @property
    def name(self) -> str:
        return self.settings.name

    def watches(self, cache: Cache[T], mapper: Mapper[T, K]) -> None:
        """Run a pass for every key that a change in this cache concerns."""

        def enqueue(old: T | None, new: T | None) -> None:
            for key, priority in mapper(old, new):
                # What the first list brings has not changed; events that come in meanwhile go first.
                self.queue.add(key, Priority.RESYNC if cache.is_first_list else priority)

        cache.subscribe(enqueue)

    def watches_aside(self, cache: Cache[T], mapper: Callable[[Aside], Iterable[K]]) -> None:
        """Run a pass for every key that concerns an object which was set aside, or was and is gone."""

        def enqueue(aside: Aside) -> None:
            for key in mapper(aside):
                self.queue.add(key, Priority.RESYNC if cache.is_first_list else Priority.EVENT)

        cache.subscribe_aside(enqueue)

    async def run(self) -> None:
        """Work until the queue is closed; raises FencedError when a pass finds that the lease is gone."""
        lowest = [Priority.RESYNC] * self.settings.workers + [Priority.URGENT] * self.settings.urgent_workers
        async with asyncio.TaskGroup() as group:
            for number, priority in enumerate(lowest):
                group.create_task(self._work(priority), name=f"{self.name} worker {number}")

    def close(self) -> None:
        """Let the passes under way finish, and begin no other."""
        self.queue.close()

    async def _work(self, lowest: Priority) -> None:
        while (job := await self.queue.get(lowest)) is not None:
            fields = {"controller": self.name, **self.settings.describe(job.key), "reconcileID": str(uuid.uuid4())}
            try:
                with log_context(fields):
                    await self._passes(job)
            finally:
                self.queue.done(job.key)
            # A pass that finds everything in the caches never waits: without this, a full queue would hold the loop.
            await asyncio.sleep(0)

    async def _passes(self, job: Job[K]) -> None:
        """Urgent progress goes on right here: in the queue it would wait for all who have come to the same point."""
        for _ in range(MOST_IN_A_ROW):
            outcome = await self._pass(job)
            if outcome is None or not isinstance(outcome.look_again, AtOnce):
                return
            if not outcome.look_again.is_urgent or self.queue.is_closed:
                break
            await asyncio.sleep(0)
        self.queue.again(job.key)

    async def _pass(self, job: Job[K]) -> Outcome | None:
        """None if it failed."""
        self.recorder.began()
        began_at = self.clock.monotonic()
        result: Result = "error"
        outcome: Outcome | None = None
        deadline = asyncio.timeout(self.settings.pass_deadline.total_seconds())
        try:
            async with deadline:
                outcome = await self.reconcile(job.key)
            result = self._settle(job, outcome, self.clock.monotonic() - began_at)
        except Exception as err:  # noqa: BLE001 - one broken object must not stop the rest
            if deadline.expired():
                self.recorder.timed_out()
            self._fail(job, err, self.clock.monotonic() - began_at)
        finally:
            self.recorder.ended(result, self.clock.monotonic() - began_at)
        return outcome

    def _settle(self, job: Job[K], outcome: Outcome, seconds: float) -> Result:
        key = job.key
        is_news = self._last_reasons.get(key) != outcome.reason
        fields = {"reason": outcome.reason, "seconds": round(seconds, 4)}
        log.log(logging.INFO if is_news else logging.DEBUG, "reconciled", extra=fields)
        self._last_reasons[key] = outcome.reason
        match outcome.look_again:
            case AtOnce():
                return "requeue"
            case After(wait):
                self.queue.forget(key)
                self.queue.add_after(key, wait, with_others=outcome.is_settled)
                return "requeue_after"
            case WhenChanged():
                self.queue.forget(key)
                # Nothing is kept of a key that may never come back.
                self._last_reasons.pop(key)
                return "success"

    def _fail(self, job: Job[K], err: Exception, seconds: float) -> None:
        self._last_reasons.pop(job.key, None)
        causes = leaves(err)
        for cause in causes:
            if isinstance(cause, FencedError):
                raise cause
        fields = {"error": err, "seconds": round(seconds, 4)}
        if all(isinstance(cause, SpecRejectedError) for cause in causes):
            log.warning("spec rejected", extra=fields)
            self.recorder.rejected()
            self.queue.forget(job.key)
            return
        if all(isinstance(cause, TransientError | TimeoutError) for cause in causes):
            log.warning("reconcile failed", extra=fields)
        else:
            log.error("reconcile failed", extra=fields, exc_info=err)
        if not all(isinstance(cause, OperatorError | TimeoutError) for cause in causes):
            self.recorder.crashed()
        self.queue.retry(job.key, job.priority)


def leaves(err: BaseException) -> list[BaseException]:
    """The errors inside a group, however deep; a pass that goes on after an error raises them together."""
    if not isinstance(err, BaseExceptionGroup):
        return [err]
    group = cast("BaseExceptionGroup[BaseException]", err)
    return [leaf for inner in group.exceptions for leaf in leaves(inner)]
