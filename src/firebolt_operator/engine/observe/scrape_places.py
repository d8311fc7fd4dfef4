"""Whose turn is it to be asked for metrics? Nobody's silence may keep others from being asked.

Places are few. So a namespace has only a quarter of them, whoever would have to wait for silent neighbours goes without
an answer, and a pod that hung is left alone for a while.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.engine.answers import Activity, PodKey, pod_key
from firebolt_operator.engine.observe.scrape import MetricsSource, fetch_activity
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import TransientError
from firebolt_operator.runtime.clock import Clock

PODS_AT_ONCE: Final = 16  # of one namespace; a quarter of what the door sends at a time
PATIENCE: Final = 0.25  # seconds; pods that are well have answered by then
HUNG_AFTER: Final = 2.0  # seconds; a failure that took as long was silence
FIRST_PAUSE: Final = 10.0  # seconds, doubled with every further silence
LONGEST_PAUSE: Final = 60.0
MOST_REMEMBERED: Final = 10_000


@dataclass(slots=True)
class _Neighbours:
    """The engines of one namespace whose pods are asked right now."""

    began_at: list[float] = field(default_factory=list[float])
    freed: asyncio.Event = field(default_factory=asyncio.Event)
    pods: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PODS_AT_ONCE))


@dataclass(frozen=True, slots=True)
class _Pause:
    seconds: float
    ends_at: float


@dataclass(slots=True)
class ScrapePlaces:
    clock: Clock
    engines: int  # whose pods may be asked at a time, in all namespaces together
    _neighbours: dict[str, _Neighbours] = field(default_factory=dict[str, _Neighbours], init=False)
    _pauses: dict[PodKey, _Pause] = field(default_factory=dict[PodKey, _Pause], init=False)  # by pod

    async def fetch_activity(self, source: MetricsSource, pods: Sequence[PodView]) -> list[Activity | str]:
        """For each pod of one engine what it does, or why it could not be told."""
        if not any(self.pause_left(pod) == 0 for pod in pods):
            return [_resting(self.pause_left(pod)) for pod in pods]
        async with self._place(pods[0].namespace) as neighbours:
            if neighbours is None:
                return ["too many pods of this namespace do not answer; asked again later"] * len(pods)
            return await fetch_activity(_PatientSource(self, source, neighbours.pods), pods)

    @asynccontextmanager
    async def _place(self, namespace: str) -> AsyncGenerator[_Neighbours | None]:
        if not await self._has_room(namespace):
            yield None
            return
        neighbours, began_at = self._of(namespace), self.clock.monotonic()
        neighbours.began_at.append(began_at)
        try:
            yield neighbours
        finally:
            neighbours.began_at.remove(began_at)
            neighbours.freed.set()
            if not neighbours.began_at:
                del self._neighbours[namespace]

    def _of(self, namespace: str) -> _Neighbours:
        return self._neighbours.setdefault(namespace, _Neighbours())

    async def _has_room(self, namespace: str) -> bool:
        """Waits for those who have only just begun; those who take longer will not be done soon."""
        # Looked up anew after every wait: whoever leaves last takes the group along, and others found the next one.
        while len((neighbours := self._of(namespace)).began_at) >= max(self.engines // 4, 1):
            left = max(neighbours.began_at) + PATIENCE - self.clock.monotonic()
            if left <= 0:
                return False
            neighbours.freed.clear()
            try:
                async with asyncio.timeout(left):
                    await neighbours.freed.wait()
            except TimeoutError:
                continue
        return True

    def pause_left(self, pod: PodView) -> float:
        """Seconds until this pod may be asked again; 0 for all that answer."""
        pause = self._pauses.get(pod_key(pod))
        return 0 if pause is None else max(pause.ends_at - self.clock.monotonic(), 0)

    def silent(self, pod: PodView) -> None:
        before = self._pauses.pop(pod_key(pod), None)
        seconds = min(before.seconds * 2, LONGEST_PAUSE) if before else FIRST_PAUSE
        if len(self._pauses) >= MOST_REMEMBERED:
            del self._pauses[next(iter(self._pauses))]
        self._pauses[pod_key(pod)] = _Pause(seconds, self.clock.monotonic() + seconds)

    def answered(self, pod: PodView) -> None:
        self._pauses.pop(pod_key(pod), None)


@dataclass(frozen=True, slots=True)
class _PatientSource:
    places: ScrapePlaces
    source: MetricsSource
    pods: asyncio.Semaphore

    async def fetch_metrics(self, pod: PodView) -> str:
        left = self.places.pause_left(pod)
        if left:
            raise TransientError(_resting(left))
        async with self.pods:
            return await self._ask(pod)

    async def _ask(self, pod: PodView) -> str:
        began_at, is_answered = self.places.clock.monotonic(), False
        try:
            metrics = await self.source.fetch_metrics(pod)
            is_answered = True
        finally:  # being called off after too long is the usual way to hang
            if is_answered:
                self.places.answered(pod)
            elif self.places.clock.monotonic() - began_at >= HUNG_AFTER:
                self.places.silent(pod)
        return metrics


def _resting(left: float) -> str:
    return f"did not answer in time; asked again in {left:.0f} s"
