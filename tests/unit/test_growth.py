"""What a tenant can write is read in a time that grows with its length, and no faster."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from firebolt_operator.api.durations import parse_duration, parse_engine_duration
from firebolt_operator.api.quantities import canonical_quantity, parse_quantity
from firebolt_operator.components.images import pull_policy
from firebolt_operator.engine.autostop import parse_wake_request
from firebolt_operator.engine.gauges import gauge
from firebolt_operator.engine.parking import time_zone
from firebolt_operator.engine.pull_policy import image_tag
from firebolt_operator.errors import OperatorError
from firebolt_operator.runtime.selectors import parse_selector

KILOBYTE = 1024
STEEPEST = 40  # times the time for ten times the length; a square would need a hundred
SHAPES = (
    "0",
    "1.",
    "9",
    "1h",
    ".",
    "a",
    "a.",
    "a-",
    "a/",
    "a:",
    "-",
    "_",
    "1e",
    "+",
    "x{",
    'x{a="',
    "x ",
    " ",
    ",",
    "(",
)
READERS: dict[str, Callable[[str], object]] = {
    "durations": parse_duration,
    "engine durations": parse_engine_duration,
    "quantities": parse_quantity,
    "printed quantities": canonical_quantity,
    "images": image_tag,
    "images of components": pull_policy,
    "wake requests": parse_wake_request,
    "time zones": time_zone,
    "metrics": lambda text: gauge(text, "x"),
    "selectors": parse_selector,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Of this thread alone, and the best of a few: what others do on the machine is not the question."""
    taken = list[float]()
    for _ in range(3):
        began_at = time.thread_time()
        with suppress(ValueError, OperatorError):
            read(text)
        taken.append(time.thread_time() - began_at)
    return min(taken)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", READERS)
def test_ten_times_the_length_takes_about_ten_times_as_long(reader: str, shape: str) -> None:
    read = READERS[reader]
    for end in ("", "!", "\n"):
        before = 0.0
        for size in (1, 10, 100):
            taken = seconds(read, shape * (size * KILOBYTE // len(shape)) + end)
            # Below a tenth of a millisecond the clock decides, not the length.
            assert size == 1 or taken < STEEPEST * max(before, 1e-4)
            before = taken
