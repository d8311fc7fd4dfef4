"""How do two commands on one machine keep out of each other's way?

The kernel holds the lock, not the file: a killed holder leaves nothing to clean up, whatever file may still lie there.
"""

import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path, *, when_waiting: Callable[[], None] = lambda: None) -> Generator[int]:
    """Hold the lock; the file is gone afterwards. Yields the descriptor: a child that inherits it holds on too."""
    descriptor = _locked(path, fcntl.LOCK_EX, when_waiting)
    try:
        yield descriptor
    finally:
        # While we hold it: whoever waits for this file sees that it is gone and takes a new one.
        path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def together(path: Path, *, when_last: Callable[[], None]) -> Generator[None]:
    """Be one of several. Who leaves last, and not by an exception, does so alone: nobody comes in meanwhile."""
    descriptor = _locked(path, fcntl.LOCK_SH, lambda: None)
    try:
        yield
        if _is_alone(descriptor):
            when_last()
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _locked(path: Path, kind: int, when_waiting: Callable[[], None]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(descriptor, kind)
        if _is_still_at(path, descriptor):
            return descriptor
        os.close(descriptor)


def _is_alone(descriptor: int) -> bool:
    """Of two that leave at once, the one that asks later is: the first one's question has given up its place."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_at(path: Path, descriptor: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
