"""How busy is the engine, and may it go? Owned by the event loop: no other thread touches it."""

import asyncio
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Activity:
    running: int = 0  # admitted and not yet answered, without the suspended ones
    suspended: int = 0  # waiting for their client to take the next rows
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    refused: int = 0
    is_formed: bool = False
    tells_idle_time: bool = False  # as newer releases do
    last_busy: float = field(default_factory=time.monotonic)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    idle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.idle.set()

    @property
    def is_stopping(self) -> bool:
        return self.stopping.is_set()

    @property
    def is_ready(self) -> bool:
        return self.is_formed and not self.is_stopping

    @property
    def admitted(self) -> int:
        return self.running + self.suspended

    @property
    def idle_seconds(self) -> float:
        return 0.0 if self.admitted else time.monotonic() - self.last_busy

    def stop(self) -> None:
        self.stopping.set()

    @contextmanager
    def query(self) -> Generator[None]:
        self.running += 1
        self.idle.clear()
        try:
            yield
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1
            self.last_busy = time.monotonic()
            if self.admitted == 0:
                self.idle.set()

    @contextmanager
    def suspension(self) -> Generator[None]:
        """The sum stays the same: a drain must not mistake the change for idleness."""
        self.running -= 1
        self.suspended += 1
        try:
            yield
        finally:
            self.suspended -= 1
            self.running += 1


def exposition(activity: Activity) -> str:
    gauges: dict[str, float] = {
        "firebolt_running_queries": activity.running,
        "firebolt_suspended_queries": activity.suspended,
        "firebolt_ready": int(activity.is_ready),
    }
    if activity.tells_idle_time:
        gauges["firebolt_auto_stop_idle_seconds"] = activity.idle_seconds
    counters = {
        "firebolt_queries_succeeded_total": activity.succeeded,
        "firebolt_queries_failed_total": activity.failed,
        "firebolt_queries_cancelled_total": activity.cancelled,
        "firebolt_queries_refused_total": activity.refused,
    }
    series = [(name, "gauge", value) for name, value in gauges.items()]
    series += [(name, "counter", value) for name, value in counters.items()]
    return "".join(f"# TYPE {name} {kind}\n{name} {value}\n" for name, kind, value in series)
