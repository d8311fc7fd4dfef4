"""What does a stretch of the operator's life cost, the operator itself and the programs around it?"""

import asyncio
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from bench.support.audit import AuditLog, Requests
from bench.support.operator_process import OPERATOR, OperatorProcess, cpu_seconds
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.processes import read_records

AUDIT_SECONDS: Final = 1.0  # until the last request is in the log
WORTH_TELLING: Final = 0.1  # CPU seconds


@dataclass(frozen=True, slots=True)
class Span:
    wall_seconds: float
    cpu_seconds: float  # of the operator
    requests: Requests  # of the operator
    programs: dict[str, float]  # CPU seconds of what runs beside it, by name

    @property
    def whole_cpu_seconds(self) -> float:
        """Of the operator and all others: on a machine that somebody else uses, too, it tells more than the clock."""
        return self.cpu_seconds + sum(self.programs.values())

    def describe(self, share: int) -> str:
        requests = f"{self.requests.total / share:.2f} requests ({self.requests.mutating / share:.2f} mutating)"
        lines = "\n".join(self.requests.lines(share))
        return (
            f"{self.wall_seconds:.1f} s, {self.cpu_seconds:.2f} CPU s, {requests}:\n{lines}\n"
            f"    CPU seconds of others: {in_words(self.programs)}\n   "
        )


class Meter:
    """What is used from now on."""

    def __init__(self, plane: ControlPlane, operator: OperatorProcess, *, cpu_seconds: float | None = None) -> None:
        self._log = AuditLog(plane.audit_log, operator.user)
        self._begin = self._log.size()
        self._operator, self._plane = operator, plane
        self._cpu_seconds = operator.usage().cpu_seconds if cpu_seconds is None else cpu_seconds
        self._programs = cpu_of_programs(plane)
        self._began = datetime.fromtimestamp(time.time(), tz=UTC)
        self._began_at = time.monotonic()

    async def read(self, ended_at: float) -> Span:
        cpu_seconds = self._operator.usage().cpu_seconds - self._cpu_seconds
        programs = cpu_since(self._plane, self._programs)
        ended = datetime.fromtimestamp(time.time(), tz=UTC)
        await asyncio.sleep(AUDIT_SECONDS)
        requests = self._log.requests(self._began, ended, begin=self._begin)
        return Span(ended_at - self._began_at, cpu_seconds, requests, programs)


def cpu_of_programs(plane: ControlPlane, *, with_us: bool = False) -> dict[str, float]:
    """CPU seconds so far, by name; of those that have ended nothing is left to read."""
    running = {name: record for name, record in read_records(plane.folder).items() if record.is_alive()}
    spent = {name: cpu_seconds(record.pid) for name, record in running.items() if not name.startswith(OPERATOR)}
    return spent | ({"plain client": cpu_seconds(os.getpid())} if with_us else {})


def cpu_since(plane: ControlPlane, before: dict[str, float], *, with_us: bool = False) -> dict[str, float]:
    now = cpu_of_programs(plane, with_us=with_us)
    return {name: seconds - before.get(name, 0.0) for name, seconds in now.items()}


def in_words(programs: dict[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in programs.items() if seconds >= WORTH_TELLING)
