"""How does the agent leave? After Envoy, whose queries it may hold; before the pod's time is up it lets them go."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.answers import LEAVING, Answer
from firebolt_operator.wake.envoy_admin import EnvoyAdmin

BEFORE_THE_END: Final = timedelta(seconds=3)
"""Held queries get their answer this long before the pod is killed: Envoy has to pass it on, and to leave."""

LOOK_AGAIN_SECONDS: Final = 0.25

Ask = Callable[[str], Awaitable[Answer]]


class Farewell:
    """Stands before whoever answers, so that no answer takes longer than the pod lives."""

    def __init__(self, ask: Ask, admin: EnvoyAdmin, clock: Clock, grace: timedelta) -> None:
        """`grace` is the time from the signal to the pod's end."""
        self._ask = ask
        self._admin = admin
        self._clock = clock
        self._grace = grace
        self._is_over = False
        self._limits: set[asyncio.Timeout] = set()

    async def answer(self, engine: str) -> Answer:
        try:
            # Whatever needs no waiting is still answered when the time is over.
            async with asyncio.timeout(0 if self._is_over else None) as limit:
                self._limits.add(limit)
                try:
                    return await self._ask(engine)
                finally:
                    self._limits.discard(limit)
        except TimeoutError:
            return LEAVING

    def let_go(self) -> None:
        """Nobody waits any more, nor from now on."""
        self._is_over = True
        now = asyncio.get_running_loop().time()
        for limit in tuple(self._limits):
            limit.reschedule(now)

    async def say(self) -> None:
        """Returns when Envoy is gone: until then it may ask."""
        timer = self._clock.call_later((self._grace - BEFORE_THE_END).total_seconds(), self.let_go)
        try:
            while not await self._admin.is_gone():
                await self._clock.sleep(LOOK_AGAIN_SECONDS)
        finally:
            timer.cancel()
            self.let_go()
