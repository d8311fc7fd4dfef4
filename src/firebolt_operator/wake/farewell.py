"""How does the agent leave? After Envoy, whose queries it may hold; before the pod's time is up it lets them go."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from firebolt_operator.api.gateway_times import DELETED_INSTANCE_GRACE
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.answers import LEAVING, Answer
from firebolt_operator.wake.envoy_admin import EnvoyAdmin
from firebolt_operator.wake.own_instance import ASK_SECONDS

BEFORE_THE_END: Final = timedelta(seconds=3)
"""Held queries get their answer this long before the pod is killed: Envoy has to pass it on, and to leave."""

LOOK_AGAIN_SECONDS: Final = 0.25
ASK_AGAIN_SECONDS: Final = 5.0
NOTICED_WITHIN: Final = timedelta(seconds=ASK_AGAIN_SECONDS + ASK_SECONDS)
"""The instance may have been deleted this long ago when that is heard of."""

Ask = Callable[[str], Awaitable[Answer]]
IsDeleted = Callable[[], Awaitable[bool]]


class Farewell:
    """Stands before whoever answers, so that no answer takes longer than the pod lives."""

    def __init__(self, ask: Ask, admin: EnvoyAdmin, clock: Clock, grace: timedelta, is_deleted: IsDeleted) -> None:
        """`grace` is the time from the signal to the pod's end, unless its instance `is_deleted`."""
        self._ask = ask
        self._admin = admin
        self._clock = clock
        self._grace = grace
        self._is_deleted = is_deleted
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
            async with asyncio.TaskGroup() as group:
                deletion = group.create_task(self._heed_deletion(), name="deletion of the instance")
                while not await self._admin.is_gone():
                    await self._clock.sleep(LOOK_AGAIN_SECONDS)
                deletion.cancel()
        finally:
            timer.cancel()
            self.let_go()

    async def _heed_deletion(self) -> None:
        """It may come while the pod is leaving already: the operator then shortens what is left of its time."""
        if self._grace <= DELETED_INSTANCE_GRACE:
            return
        while not await self._is_deleted():
            await self._clock.sleep(ASK_AGAIN_SECONDS)
        await self._clock.sleep((DELETED_INSTANCE_GRACE - NOTICED_WITHIN - BEFORE_THE_END).total_seconds())
        self.let_go()
