"""Which object is next? Every key once, never two passes of one key at a time, urgent ones first, none forgotten.

Within a priority the groups of keys (namespaces, say) take turns: a tenant with a thousand objects does not make the
only object of another wait for all of them.
"""

import heapq
import math
from asyncio import CancelledError, Future, get_running_loop
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from itertools import count
from typing import Final, Generic, Protocol, TypeVar

from firebolt_operator.runtime.clock import Clock, Timer
from firebolt_operator.runtime.waiting_line import WaitingLine

FIRST_RETRY: Final = timedelta(milliseconds=5)
LONGEST_RETRY: Final = timedelta(seconds=60)
QUICK_RETRIES: Final = 6  # a conflict or a lost answer is over by then; what still fails is a poll, and waits like one
MOST_ROUNDS: Final = 20  # additions by `again` that are not delayed: no object needs as many to come to rest
TOGETHER: Final = 1.0  # seconds; waking up for one key costs four times what a key costs among others
FAIR_SHARE: Final = 10  # every tenth key handed out is the one that has waited longest, whatever its priority

K = TypeVar("K", bound=Hashable)


class Priority(IntEnum):
    """Smaller goes first."""

    URGENT = 0  # a pass that queries wait for: it switches traffic, or starts what they were sent to
    EVENT = 1  # something changed
    RESYNC = 2  # nothing is known to have changed: polls and the first list


class QueueRecorder(Protocol):
    """Told of every step, for metrics; durations in seconds."""

    def added(self) -> None: ...
    def retried(self) -> None: ...
    def handed_out(self, waited: float, /) -> None: ...
    def finished(self, worked: float, /) -> None: ...


@dataclass(frozen=True)
class Job(Generic[K]):
    key: K
    priority: Priority


def _all_alike(_key: object) -> Hashable:
    return None


class WorkQueue(Generic[K]):
    def __init__(
        self, clock: Clock, recorder: QueueRecorder, *, group_of: Callable[[K], Hashable] = _all_alike
    ) -> None:
        self._clock = clock
        self._recorder = recorder
        self._ready: dict[Priority, WaitingLine[K]] = {priority: WaitingLine(group_of) for priority in Priority}
        self._running: dict[K, float] = {}  # since when
        self._dirty: dict[K, tuple[Priority, float]] = {}  # running, and to be run again
        self._later: dict[K, tuple[float, Priority]] = {}  # when
        self._schedule: list[tuple[float, int, K]] = []  # a heap; entries that `_later` contradicts are void
        self._order = count()
        self._timer: Timer | None = None
        self._failures: dict[K, int] = {}
        self._rounds: dict[K, int] = {}  # additions by `again` in a row
        self._waiters: OrderedDict[Future[None], Priority] = OrderedDict()
        self._since_fair_turn = 0  # keys handed out
        self._is_closed = False

    # Putting in

    def add(self, key: K, priority: Priority = Priority.EVENT) -> None:
        self._recorder.added()
        self._enqueue(key, priority, self._clock.monotonic())

    def add_after(
        self, key: K, delay: timedelta, priority: Priority = Priority.RESYNC, *, with_others: bool = False
    ) -> None:
        """Of several delayed additions of one key the earliest counts. What no deadline hangs on comes with others."""
        due = self._clock.monotonic() + delay.total_seconds()
        if with_others:
            due = math.ceil(due / TOGETHER) * TOGETHER
        known = self._later.get(key)
        if known is not None:
            priority = min(priority, known[1])
            due = min(due, known[0])
        self._later[key] = (due, priority)
        if known is None or due < known[0]:
            heapq.heappush(self._schedule, (due, next(self._order), key))
            self._arm()

    def retry(self, key: K, priority: Priority = Priority.EVENT) -> None:
        """Add again after 5 ms, doubled with every further retry up to a minute, until `forget` is called."""
        self._recorder.retried()
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        if failures >= QUICK_RETRIES:
            # Or a crowd that always fails would go before every first look and every poll of the others.
            priority = Priority.RESYNC
        self.add_after(key, min(FIRST_RETRY * 2 ** min(failures, 20), LONGEST_RETRY), priority)

    def again(self, key: K) -> None:
        """Add at once, because there is more to do; like `retry` once that never ends, until `forget` is called."""
        rounds = self._rounds.get(key, 0)
        self._rounds[key] = rounds + 1
        if rounds < MOST_ROUNDS:
            self.add(key)
        else:
            self.retry(key)

    def forget(self, key: K) -> None:
        """The key did well: its next retry is quick again."""
        self._failures.pop(key, None)
        self._rounds.pop(key, None)

    # Taking out

    async def get(self, lowest: Priority = Priority.RESYNC) -> Job[K] | None:
        """The next key of at least that priority; None once the queue is closed."""
        while not self._is_closed:
            job = self._pop(lowest)
            if job is not None:
                self._wake()
                return job
            await self._wait(lowest)
        return None

    def done(self, key: K) -> None:
        """Must follow every `get`; what was added to the key meanwhile becomes ready now."""
        self._recorder.finished(self._clock.monotonic() - self._running.pop(key))
        dirty = self._dirty.pop(key, None)
        if dirty is not None:
            self._enqueue(key, *dirty)

    def close(self) -> None:
        """Hand out nothing more; passes under way may finish."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        for waiter in self._waiters:
            _release(waiter)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    # For metrics

    def depths(self) -> Mapping[str, int]:
        return {priority.name.lower(): len(keys) for priority, keys in self._ready.items()}

    def oldest_age(self) -> float:
        """Seconds that the longest waiting key has waited."""
        now = self._clock.monotonic()
        return now - min(self._heads().values(), default=now)

    def running_ages(self) -> list[float]:
        """Seconds that each pass under way has taken so far."""
        now = self._clock.monotonic()
        return [now - since for since in self._running.values()]

    # Inside

    def _enqueue(self, key: K, priority: Priority, since: float) -> None:
        if key in self._running:
            former, former_since = self._dirty.get(key, (priority, since))
            self._dirty[key] = (min(priority, former), former_since)
            return
        for other, keys in self._ready.items():
            if key in keys:
                if other <= priority:
                    return
                since = keys.remove(key)
        self._ready[priority].add(key, since)
        self._wake()

    def _heads(self) -> dict[Priority, float]:
        """Since when the first key of each class has waited."""
        return {priority: keys.waiting_since() for priority, keys in self._ready.items() if keys}

    def _pop(self, lowest: Priority) -> Job[K] | None:
        heads = {priority: since for priority, since in self._heads().items() if priority <= lowest}
        if not heads:
            return None
        is_fair_turn = self._is_fair_turn(lowest)
        priority = min(heads, key=lambda head: (heads[head], -head)) if is_fair_turn else min(heads)
        line = self._ready[priority]
        key = line.oldest() if is_fair_turn else line.on_turn()
        since = line.remove(key)
        now = self._clock.monotonic()
        self._running[key] = now
        self._recorder.handed_out(now - since)
        return Job(key, priority)

    def _is_fair_turn(self, lowest: Priority) -> bool:
        """Due every so often, and taken by the next worker that may take any key: of others it would be lost."""
        self._since_fair_turn += 1
        if self._since_fair_turn < FAIR_SHARE or lowest < max(Priority):
            return False
        self._since_fair_turn = 0
        return True

    async def _wait(self, lowest: Priority) -> None:
        waiter: Future[None] = get_running_loop().create_future()
        self._waiters[waiter] = lowest
        try:
            await waiter
        except CancelledError:
            self._waiters.pop(waiter, None)
            self._wake()  # this worker may have been woken for a key that another one must take now
            raise

    def _wake(self) -> None:
        """Wake one worker for the best key; whoever takes a key wakes the next worker."""
        heads = self._heads()
        for waiter, lowest in self._waiters.items():
            if any(priority <= lowest for priority in heads):
                del self._waiters[waiter]
                _release(waiter)
                return

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._schedule and self._later.get(self._schedule[0][2], (None,))[0] != self._schedule[0][0]:
            heapq.heappop(self._schedule)
        if self._schedule and not self._is_closed:
            delay = self._schedule[0][0] - self._clock.monotonic()
            self._timer = self._clock.call_later(max(delay, 0.0), self._promote)

    def _promote(self) -> None:
        now = self._clock.monotonic()
        while self._schedule and self._schedule[0][0] <= now:
            due, _, key = heapq.heappop(self._schedule)
            later = self._later.get(key)
            if later is not None and later[0] == due:
                del self._later[key]
                self.add(key, later[1])
        self._arm()


def _release(waiter: Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
