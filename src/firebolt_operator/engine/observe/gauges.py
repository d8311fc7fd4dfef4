"""The gauges by which an engine pod says whether it is busy, and newer ones for how long they have not been."""

import math
import re
from functools import cache

from firebolt_operator.engine.answers import Activity

RUNNING = "firebolt_running_queries"
SUSPENDED = "firebolt_suspended_queries"
IDLE_SECONDS = "firebolt_auto_stop_idle_seconds"
LONGEST_IDLE = 100 * 365 * 24 * 3600.0  # seconds; nothing that is told was idle for longer

# Nothing in it is tried twice (possessive repetitions): a hostile answer costs no more than an honest one of its size.
_LABELS = r'(?:\{(?:[^"}\n]|"(?:[^"\\\n]|\\.)*+")*+\})?+'
_VALUE = r"[ \t]*+(?<=[ \t}])(?P<value>[^ \t\r\n]{1,64}+)(?![^ \t\r\n])"


def parse_activity(text: str) -> Activity:
    """Raises ValueError when a gauge is missing: silence is not idleness."""
    running, suspended = gauge(text, RUNNING), gauge(text, SUSPENDED)
    missing = [name for name, value in ((RUNNING, running), (SUSPENDED, suspended)) if value is None]
    if running is None or suspended is None:
        raise ValueError(f"metrics answer lacks {' and '.join(missing)}")
    return Activity(running, suspended, idle_seconds(text))


def gauge(text: str, name: str) -> int | None:
    """The sum of all series of that name, whatever their labels, cut to a whole number; None when there is none.

    None too when one of them is no number that can be counted: the sum of the others would look idle.
    """
    values = [_number(match["value"]) for match in _series(name).finditer(text)]
    if not values or None in values:
        return None
    total = math.fsum(value for value in values if value is not None)
    return int(total) if math.isfinite(total) else None


def idle_seconds(text: str) -> float | None:
    """The shortest of all series; None when there is none, and NaN when one is no time that can have passed."""
    values = [_number(match["value"]) for match in _series(IDLE_SECONDS).finditer(text)]
    told = [value for value in values if value is not None and value <= LONGEST_IDLE]
    if not values:
        return None
    return min(told) if len(told) == len(values) else math.nan


@cache
def _series(name: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t]*+{re.escape(name)}{_LABELS}{_VALUE}", re.MULTILINE)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    # Less than nothing would hide what another series counts.
    return value if math.isfinite(value) and value >= 0 else None
