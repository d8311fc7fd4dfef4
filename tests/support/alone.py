"""Tests run side by side in several processes; one that is marked `alone` has the machine for itself.

A plugin of pytest, loaded by `tests/conftest.py`.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

_FOLDER_VARIABLE = "FIREBOLT_TEST_TURNS"
"""Where the processes of one run meet: set by the first of them, inherited by the others."""


def pytest_configure(config: pytest.Config) -> None:
    if _FOLDER_VARIABLE not in os.environ:
        folder = TemporaryDirectory(prefix="test-turns-")
        os.environ[_FOLDER_VARIABLE] = folder.name

        def forget() -> None:
            del os.environ[_FOLDER_VARIABLE]
            folder.cleanup()

        config.add_cleanup(forget)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around the time limit: waiting for one's turn does not count
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with turn(Path(os.environ[_FOLDER_VARIABLE]), is_alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def turn(folder: Path, *, is_alone: bool) -> Generator[None]:
    """Everybody goes through a gate into the room. Whoever wants to be alone keeps the gate shut until the room was
    empty and is left again: without the gate, those who share it could keep the room full for ever.
    """
    with (folder / "gate").open("w") as gate, (folder / "room").open("w") as room:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH)
        if not is_alone:
            fcntl.flock(gate, fcntl.LOCK_UN)
        yield
