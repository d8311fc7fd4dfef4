"""How soon does the next operator write? After one that ends properly, and after a time without any.

An engine is edited at the moment at which nobody leads any more, so that the next one has something to write at once.
Times are those of the API server's audit log.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bench.support.audit import LEASES, AuditLog, Request
from bench.support.fleet import Fleet
from bench.support.operator_process import OperatorProcess, start_operator
from firebolt_local.cluster.control_plane import ControlPlane

LONGEST_SECONDS: Final = 300.0
LOOK_SECONDS: Final = 0.2
NOTICED: Final = "waiting for the lease"  # by a process whose caches are filled


@dataclass(frozen=True, slots=True)
class Succession:
    """Seconds."""

    to_lease: float  # from the moment at which the former leader was told to end, or the process was started
    to_write: float  # from the lease to the first write
    followed: OperatorProcess

    @property
    def whole(self) -> float:
        return self.to_lease + self.to_write


@dataclass(frozen=True, slots=True)
class Throne:
    plane: ControlPlane
    fleet: Fleet
    flags: tuple[str, ...]

    async def hand_over(self, leader: OperatorProcess) -> Succession:
        """A second process waits beside the leader, which is told to end."""
        heir = start_operator(self.plane, self.flags, user="heir")
        await _until(lambda: NOTICED in heir.log.read_text(errors="replace"))
        began = _now()
        os.kill(leader.record.pid, signal.SIGTERM)
        await self.fleet.touch(0, minutes=32)
        succession = await self._followed(heir, began)
        leader.stop()
        return succession

    async def cold_start(self) -> Succession:
        """Nobody has led for a while."""
        await self.fleet.touch(0, minutes=31)
        began = _now()
        return await self._followed(start_operator(self.plane, self.flags, user="cold"), began)

    async def _followed(self, successor: OperatorProcess, began: datetime) -> Succession:
        log = AuditLog(self.plane.audit_log, successor.user)
        begin = log.size()

        def writes() -> list[Request]:
            found = log.entries(began, _now(), begin=begin)
            return [each for each in found if each.is_write and each.has_succeeded]

        await _until(lambda: any(each.resource != LEASES for each in writes()))
        won = next(each.stage_timestamp for each in writes() if each.resource == LEASES)
        first = next(each.request_received_timestamp for each in writes() if each.resource != LEASES)
        return Succession((won - began).total_seconds(), (first - won).total_seconds(), successor)


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), tz=UTC)


async def _until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST_SECONDS):
        while not is_true():  # noqa: ASYNC110 - a log file tells nobody that it has grown
            await asyncio.sleep(LOOK_SECONDS)
