"""Does a lock keep others out, and does a dead holder never keep anyone out?"""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from firebolt_local.locks import exclusive, together
from tests.support.child_processes import python_environment

_HOLD = """
import sys, time
from pathlib import Path
from firebolt_local.locks import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(300)
"""


def test_given_a_holder_then_the_next_waits_and_is_told(tmp_path: Path) -> None:
    path, order, told = tmp_path / "lock", list[str](), threading.Event()

    def second() -> None:
        with exclusive(path, when_waiting=told.set):
            order.append("second")

    thread = threading.Thread(target=second)
    with exclusive(path):
        thread.start()
        assert told.wait(5)
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]
    assert list(tmp_path.iterdir()) == []


def test_given_a_file_that_a_dead_holder_left_then_nobody_waits(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    environment = python_environment()
    with subprocess.Popen([sys.executable, "-c", _HOLD, path], stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
        holder.wait()
    assert path.exists()
    waited = list[bool]()
    with exclusive(path, when_waiting=lambda: waited.append(True)):
        assert waited == []


def test_given_one_who_waited_for_a_removed_file_then_the_next_still_waits_for_it(tmp_path: Path) -> None:
    path, is_inside, may_leave = tmp_path / "lock", threading.Event(), threading.Event()
    second_waits, third_waits = threading.Event(), threading.Event()

    def second() -> None:
        with exclusive(path, when_waiting=second_waits.set):
            is_inside.set()
            assert may_leave.wait(10)

    def third() -> None:
        with exclusive(path, when_waiting=third_waits.set):
            pass

    threads = [threading.Thread(target=second), threading.Thread(target=third)]
    with exclusive(path):
        threads[0].start()
        assert second_waits.wait(5)
    assert is_inside.wait(5)
    threads[1].start()
    has_waited = third_waits.wait(2)
    may_leave.set()
    for thread in threads:
        thread.join(10)
    assert has_waited


def test_given_several_together_then_only_the_last_to_leave_is_told(tmp_path: Path) -> None:
    path, told = tmp_path / "lock", list[str]()
    with together(path, when_last=lambda: told.append("first")):
        with together(path, when_last=lambda: told.append("second")):
            pass
        assert told == []
    assert told == ["first"]
    assert list(tmp_path.iterdir()) == []


def test_given_one_who_leaves_by_an_exception_then_it_tells_nobody_and_is_in_nobodys_way(tmp_path: Path) -> None:
    path, told = tmp_path / "lock", list[str]()
    with pytest.raises(ValueError, match="oops"), together(path, when_last=lambda: told.append("failed")):
        raise ValueError("oops")
    with together(path, when_last=lambda: told.append("next")):
        pass
    assert told == ["next"]


def test_given_the_last_at_work_then_whoever_comes_waits_until_it_has_left(tmp_path: Path) -> None:
    path, order, is_coming = tmp_path / "lock", list[str](), threading.Event()

    def come() -> None:
        is_coming.set()
        with together(path, when_last=lambda: order.append("gone again")):
            order.append("in")

    thread = threading.Thread(target=come)

    def clear_away() -> None:
        thread.start()
        assert is_coming.wait(5)
        thread.join(0.2)
        order.append("cleared away")

    with together(path, when_last=clear_away):
        pass
    thread.join(5)
    assert order == ["cleared away", "in", "gone again"]
