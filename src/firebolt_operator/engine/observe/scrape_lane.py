"""Asks pods how busy they are, beside the passes. Whoever wants to know gets what is known, and a pass once more is.

No pass ever waits for a pod. Pods that hang cost a place here, and nobody's promotion, wake or deletion anything.
"""

import asyncio
import logging
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Final, NamedTuple

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import ScrapeMode
from firebolt_operator.engine.answers import Answers, pod_key
from firebolt_operator.engine.observe.scrape import ApiServerProxy, metrics_source
from firebolt_operator.engine.observe.scrape_places import ScrapePlaces
from firebolt_operator.engine.views import PodView
from firebolt_operator.evidence import noted
from firebolt_operator.kube.ports import Reader
from firebolt_operator.pace import Pace
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import leaves
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority, QueueRecorder, WorkQueue

PLACES: Final = 32  # engines whose pods are asked at a time

log = logging.getLogger(__name__)


class Purpose(Enum):
    DRAIN = "drain"  # a rollout waits for it
    ACTIVITY = "activity"


class Topic(NamedTuple):
    engine: Key
    purpose: Purpose


def waiting_line(clock: Clock, recorder: QueueRecorder) -> WorkQueue[Topic]:
    """By namespace: the engines of one tenant, however many, do not keep those of the others waiting."""
    return WorkQueue(clock, recorder, group_of=lambda topic: topic.engine[0])


@dataclass(frozen=True, slots=True)
class _Question:
    instance: str
    pods: tuple[PodView, ...]


@dataclass(slots=True, kw_only=True)
class ScrapeLane:
    instances: Cache[FireboltInstance]
    reader: Reader
    clock: Clock
    places: ScrapePlaces
    proxy_pace: Pace | None  # of requests through the API server; None lets all of them go
    line: WorkQueue[Topic]
    answered: Callable[[Key], None]  # told of each engine whose pods were asked
    _open: dict[Topic, _Question] = field(default_factory=dict[Topic, _Question], init=False)
    _known: dict[Topic, Answers] = field(default_factory=dict[Topic, Answers], init=False)
    _unread: set[Topic] = field(default_factory=set[Topic], init=False)
    _turns: dict[Key, float] = field(default_factory=dict[Key, float], init=False)  # when it is polled next

    @property
    def name(self) -> str:
        return "scrape lane"

    # What passes ask of it; nothing here waits

    def known(self, topic: Topic) -> Answers | None:
        return noted(self._known.get, topic)

    def is_first_look(self, topic: Topic) -> bool:
        """Whether these answers have not been looked at before: each is counted and logged once."""
        is_unread = topic in self._unread
        self._unread.discard(topic)
        return is_unread

    def ask(self, topic: Topic, instance: str, pods: Sequence[PodView]) -> None:
        """Once: what is asked already, or waits for its place, is not asked a second time."""
        if topic in self._open:
            return
        self._open[topic] = _Question(instance, tuple(pods))
        self.line.add(topic, Priority.EVENT if topic.purpose is Purpose.DRAIN else Priority.RESYNC)

    def turn_in(self, engine: Key, uid: str, interval: timedelta) -> timedelta:
        """How long until this engine is to be polled; nothing means now, and the next turn is an interval later.

        The first turn of each is somewhere within its interval: a thousand engines are not polled in one moment.
        """
        now, seconds = self.clock.monotonic(), interval.total_seconds()
        due = self._turns.get(engine, now + seconds * zlib.crc32(uid.encode()) / 2**32)
        self._turns[engine] = due = min(due, now + seconds)
        if due > now:
            return timedelta(seconds=due - now)
        self._turns[engine] = max(due + seconds, now)
        return timedelta(0)

    def forget(self, engine: Key) -> None:
        self._turns.pop(engine, None)
        for topic in (Topic(engine, purpose) for purpose in Purpose):
            self._known.pop(topic, None)
            self._open.pop(topic, None)
            self._unread.discard(topic)

    # The lane itself

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(self.places.engines):
                group.create_task(self._work(), name=f"{self.name} {number}")

    async def _work(self) -> None:
        while (job := await self.line.get()) is not None:
            try:
                await self._answer(job.key)
            finally:
                self.line.done(job.key)

    async def _answer(self, topic: Topic) -> None:
        question = self._open.get(topic)
        if question is None:
            return  # nobody wants to know any more
        answers = await self._ask(topic, question)
        if self._open.get(topic) is not question:
            return
        del self._open[topic]
        self._known[topic] = answers
        self._unread.add(topic)
        self.answered(topic.engine)

    async def _ask(self, topic: Topic, question: _Question) -> Answers:
        source = metrics_source(self._mode(topic.engine[0], question.instance), self.reader)
        if isinstance(source, ApiServerProxy):
            await self._wait_for_turn(len(question.pods))
        asked_at = self.clock.now()
        try:
            told = await self.places.fetch_activity(source, question.pods)
        except Exception as err:  # one broken answer must not end the lane
            log.exception("scrape failed", extra={"engine": topic.engine[1]})
            cause = leaves(err)[0]
            told = [f"{type(cause).__name__}: {cause}"] * len(question.pods)
        return Answers(asked_at=asked_at, told=dict(zip(map(pod_key, question.pods), told, strict=True)))

    async def _wait_for_turn(self, requests: int) -> None:
        if self.proxy_pace is None:
            return
        now = self.clock.monotonic()
        for _ in range(requests - 1):
            self.proxy_pace.take(now)
        free_at = self.proxy_pace.free_at
        self.proxy_pace.take(now)
        if free_at > now:
            await self.clock.sleep(free_at - now)

    def _mode(self, namespace: str, name: str) -> ScrapeMode:
        instance = self.instances.get((namespace, name))
        return ScrapeMode(instance.spec.metric_scrape_mode) if instance else ScrapeMode.APISERVER_PROXY
