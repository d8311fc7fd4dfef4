"""The operator as a process of its own, and what it costs."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Never

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from firebolt_local.cluster.processes import ProcessRecord

USER: Final = "operator"
OPERATOR: Final = "operator-"  # how the names of its processes begin
STOP_SECONDS: Final = 20.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_MEBI: Final = 1024


@dataclass(frozen=True, slots=True)
class Usage:
    cpu_seconds: float
    rss_mib: float
    peak_rss_mib: float


@dataclass(frozen=True, slots=True)
class OperatorProcess:
    record: ProcessRecord
    log: Path
    user: str  # by which the API server knows it

    def usage(self) -> Usage:
        folder = Path("/proc", str(self.record.pid))
        memory = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return Usage(
            cpu_seconds=cpu_seconds(self.record.pid),
            rss_mib=_kibibytes(memory["VmRSS"]) / _MEBI,
            peak_rss_mib=_kibibytes(memory["VmHWM"]) / _MEBI,
        )

    async def until_dead(self) -> Never:
        """Nobody would notice otherwise: those who wait for engines would wait for ever."""
        while self.record.is_alive():  # noqa: ASYNC110 - it is not always our child to wait for
            await asyncio.sleep(1.0)
        raise RuntimeError("the operator ended by itself; see its log")

    def stop(self) -> None:
        os.kill(self.record.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while self.record.is_alive():
            if time.monotonic() > deadline:
                raise TimeoutError("the operator did not stop")
            time.sleep(0.05)
        os.waitpid(self.record.pid, 0)


def cpu_seconds(pid: int) -> float:
    """What a process has used so far."""
    times = Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / _TICKS


def _kibibytes(text: str) -> int:
    return int(text.split(maxsplit=1)[0])


def start_operator(
    plane: ControlPlane, flags: Sequence[str], *, profile: Path | None = None, user: str = USER
) -> OperatorProcess:
    given = [
        f"--kubeconfig={plane.kubeconfig_for(user)}",
        "--drain-settle=0",
        "--health-probe-bind-address=0",
        # As the chart has it: the Lease, and what dashboards read of each engine, are part of what engines cost.
        "--leader-elect=true",
        "--leader-elect-namespace=default",
        "--metrics-secure=false",
        f"--metrics-bind-address=127.0.0.1:{free_port()}",
        *flags,
    ]
    profiler = [] if profile is None else ["-m", "cProfile", "-o", str(profile)]
    command = [sys.executable, *profiler, "-m", "firebolt_operator.main", "run", *given]
    name = f"{OPERATOR}{time.monotonic_ns()}"
    return OperatorProcess(plane.launch(name, command), plane.log_file(name), user)
