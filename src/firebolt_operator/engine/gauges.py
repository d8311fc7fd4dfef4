"""The two gauges by which an engine pod says whether it is busy."""

import math
from dataclasses import dataclass

RUNNING = "firebolt_running_queries"
SUSPENDED = "firebolt_suspended_queries"


@dataclass(frozen=True, slots=True)
class Activity:
    running: int
    suspended: int

    @property
    def is_idle(self) -> bool:
        return self.running == 0 and self.suspended == 0


def parse_activity(text: str) -> Activity:
    """Raises ValueError when a gauge is missing: silence is not idleness."""
    running, suspended = gauge(text, RUNNING), gauge(text, SUSPENDED)
    missing = [name for name, value in ((RUNNING, running), (SUSPENDED, suspended)) if value is None]
    if running is None or suspended is None:
        raise ValueError(f"metrics answer lacks {' and '.join(missing)}")
    return Activity(running, suspended)


def gauge(text: str, name: str) -> int | None:
    """The value of an unlabelled series, cut to a whole number; None when absent or not a finite number."""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(name + " "):
            return _number(stripped.removeprefix(name).split()[0])
    return None


def _number(text: str) -> int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if math.isfinite(value) else None
