"""What does a stretch of the operator's life cost, the operator itself and the programs around it?"""

import asyncio
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

    def describe(self, share: int) -> str:
        requests = f"{self.requests.total / share:.2f} requests ({self.requests.mutating / share:.2f} mutating)"
        lines = "\n".join(self.requests.lines(share))
        others = ", ".join(
            f"{name} {seconds:.1f}" for name, seconds in self.programs.items() if seconds >= WORTH_TELLING
        )
        return (
            f"{self.wall_seconds:.1f} s, {self.cpu_seconds:.2f} CPU s, {requests}:\n{lines}\n"
            f"    CPU seconds of others: {others}\n   "
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
        now = cpu_of_programs(self._plane)
        programs = {name: seconds - self._programs.get(name, 0.0) for name, seconds in now.items()}
        ended = datetime.fromtimestamp(time.time(), tz=UTC)
        await asyncio.sleep(AUDIT_SECONDS)
        requests = self._log.requests(self._began, ended, begin=self._begin)
        return Span(ended_at - self._began_at, cpu_seconds, requests, programs)


def cpu_of_programs(plane: ControlPlane) -> dict[str, float]:
    """CPU seconds so far, by name; of those that have ended nothing is left to read."""
    running = {name: record for name, record in read_records(plane.folder).items() if record.is_alive()}
    return {name: cpu_seconds(record.pid) for name, record in running.items() if not name.startswith(OPERATOR)}
