"""When does an engine whose endpoints just appeared turn ready? As soon as Envoy can route to it, if somebody waits."""

import asyncio
from typing import Final, Never

from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.holds import Holds
from firebolt_operator.wake.readiness import Readiness
from firebolt_operator.wake.routing import Routes

LOOK_AGAIN_SECONDS: Final = 0.05
HEAD_START_SECONDS: Final = 0.1
"""Whoever asks before the cluster's DNS knows the endpoints makes it remember for 5 or 30 s that there are none."""


class Arrivals:
    """Envoy is asked only while holds wait: for anybody else the next query asks."""

    name = "arrivals"

    def __init__(
        self, readiness: Readiness, holds: Holds, routes: Routes, clock: Clock, head_start: float = HEAD_START_SECONDS
    ) -> None:
        """`head_start` is in seconds: how long DNS is left alone once endpoints appeared."""
        self._head_start = head_start
        self._readiness = readiness
        self._holds = holds
        self._routes = routes
        self._clock = clock
        self._followed: set[str] = set()
        self._asked: asyncio.Queue[str] = asyncio.Queue()
        readiness.listen(arriving=self.look_at)

    def look_at(self, engine: str) -> None:
        """To be called when its endpoints appear, and when a hold for it begins."""
        if engine not in self._followed and self._has_to_look(engine):
            self._followed.add(engine)
            self._asked.put_nowait(engine)

    async def run(self) -> Never:
        async with asyncio.TaskGroup() as group:
            while True:
                engine = await self._asked.get()
                group.create_task(self._follow(engine), name=f"arrival of {engine}")

    def _has_to_look(self, engine: str) -> bool:
        return self._holds.count(engine) > 0 and self._readiness.arriving(engine) is not None

    async def _follow(self, engine: str) -> None:
        while self._holds.count(engine) > 0:
            presence = self._readiness.arriving(engine)
            if presence is None:
                break
            early = presence.appeared_at + self._head_start - self._clock.monotonic()
            if early > 0:
                await self._clock.sleep(early)
            elif await self._routes.lead_to(engine, presence.addresses):
                self._readiness.turn_ready(presence)
            else:
                await self._clock.sleep(LOOK_AGAIN_SECONDS)
        # Nothing is awaited since the last look, so whoever asks from here on starts anew.
        self._followed.discard(engine)
        if self._readiness.is_ready(engine):
            self._holds.release(engine)
