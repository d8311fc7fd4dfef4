"""How does the time for reading an input grow with its length? Told by the thread's own clock, not by a deadline."""

import gc
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import TypeVar

KILOBYTE = 1024
SIZES = (1, 10, 100)  # kilobytes
STEEPEST = 40  # times the time for ten times the length; a square would need a hundred
TRIES = 3
SMALLEST = 3e-4  # seconds; below that the clock decides, not the length

T = TypeVar("T")
Shape = Callable[[int], T]
"""An input of about so many bytes."""


def seconds(read: Callable[[T], object], given: T, refusals: tuple[type[Exception], ...]) -> float:
    """Of this thread alone, and the best of a few: what others do on the machine is not the question."""
    with uncollected():
        return min(_taken(read, given, refusals) for _ in range(TRIES))


def _taken(read: Callable[[T], object], given: T, refusals: tuple[type[Exception], ...]) -> float:
    began_at = time.thread_time()
    with suppress(*refusals):
        read(given)
    return time.thread_time() - began_at


@contextmanager
def uncollected() -> Generator[None]:
    """The collector looks through all that the process holds, whenever it likes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def growth(read: Callable[[T], object], shape: Shape[T], refusals: tuple[type[Exception], ...]) -> float:
    """How many times the time of the next smaller one an input takes, at worst; about ten is linear.

    What is too steep is measured again: a square is one every time, and a busy machine is not.
    """
    measured = list[float]()
    while len(measured) < TRIES and min(measured, default=STEEPEST) >= STEEPEST:
        measured.append(_growth(read, shape, refusals))
    return min(measured)


def _growth(read: Callable[[T], object], shape: Shape[T], refusals: tuple[type[Exception], ...]) -> float:
    taken = [max(seconds(read, shape(size * KILOBYTE), refusals), SMALLEST) for size in SIZES]
    return max(larger / smaller for smaller, larger in pairwise(taken))


def steepest_growth(
    read: Callable[[T], object], shapes: Iterable[Shape[T]], refusals: tuple[type[Exception], ...]
) -> float:
    return max(growth(read, shape, refusals) for shape in shapes)
