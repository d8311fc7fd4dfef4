"""Is every process that was started found again and ended, and nobody else's ever touched?"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import Launch, ProcessRecord
from tests.support.child_processes import python_environment

SLEEP = ("sleep", "300")
ENVIRONMENT = {"PATH": os.environ["PATH"]}


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[ProcessRecord]:
    record = processes.start(Launch(name="sleeper", command=SLEEP, folder=tmp_path, environment=ENVIRONMENT))
    wait_for(lambda: processes.read_records(tmp_path))
    yield record
    processes.kill([record])


def wait_for(look: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_given_a_started_program_then_its_own_record_tells_who_it_is(sleeper: ProcessRecord, tmp_path: Path) -> None:
    assert processes.read_records(tmp_path) == {"sleeper": sleeper}
    assert sleeper.is_alive()


def test_when_killed_then_it_is_gone_at_once(sleeper: ProcessRecord) -> None:
    assert processes.kill([sleeper]) == []
    assert not sleeper.is_alive()
    assert not Path(f"/proc/{sleeper.pid}").exists()


def test_when_started_again_then_it_is_another_process_of_the_same_kind(sleeper: ProcessRecord, tmp_path: Path) -> None:
    again = processes.start_again(tmp_path, "sleeper")
    wait_for(lambda: processes.read_records(tmp_path) == {"sleeper": again})
    wait_for(lambda: Path(f"/proc/{again.pid}/cmdline").read_bytes() == b"sleep\x00300\x00")
    assert not sleeper.is_alive()
    assert processes.record_of(again.pid) == again
    processes.kill([again])
    assert processes.record_of(again.pid) is None


@pytest.mark.parametrize(
    ("earlier", "boot"),
    [pytest.param(1, None, id="another-start-time"), pytest.param(0, "another", id="another-boot")],
)
def test_given_a_reused_pid_then_its_new_owner_is_not_touched(
    sleeper: ProcessRecord, earlier: int, boot: str | None
) -> None:
    stale = replace(sleeper, started_at=sleeper.started_at - earlier, boot=boot or sleeper.boot)
    assert not stale.is_alive()
    assert processes.kill([stale]) == []
    assert sleeper.is_alive()


def test_given_a_pid_that_nobody_has_then_killing_it_is_done(sleeper: ProcessRecord) -> None:
    assert processes.kill([replace(sleeper, pid=2**22 - 1)]) == []


def test_given_a_program_that_cannot_run_then_its_record_is_of_a_dead_process(tmp_path: Path) -> None:
    launch = Launch(name="missing", command=("/nonexistent",), folder=tmp_path, environment=ENVIRONMENT)
    record = processes.start(launch)
    wait_for(lambda: not record.is_alive())
    assert "not found" in launch.log.read_text()
    processes.kill([record])


def test_given_a_name_with_brackets_then_the_start_time_is_still_read() -> None:
    stat = "42 (odd) name) S " + " ".join(str(n) for n in range(4, 30))
    assert processes._parse_stat(stat) == (42, 22, "S")


@pytest.mark.parametrize("dies", [True, False])
def test_given_a_parent_that_is_killed_then_the_program_follows_only_if_asked(tmp_path: Path, dies: bool) -> None:
    launch = Launch(name="child", command=SLEEP, folder=tmp_path, environment=ENVIRONMENT, dies_with_parent=dies)
    parent = subprocess.Popen([sys.executable, "-c", _START_AND_WAIT.format(launch=launch)], env=_with_sources())
    wait_for(lambda: processes.read_records(tmp_path))
    child = processes.read_records(tmp_path)["child"]
    descriptor = os.pidfd_open(child.pid)
    try:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        ended, _, _ = select.select([descriptor], [], [], 5 if dies else 0.3)
        assert bool(ended) == dies
    finally:
        os.close(descriptor)
        processes.kill([child])


_START_AND_WAIT = """
import time
from pathlib import PosixPath
from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import Launch
processes.start({launch!r})
time.sleep(300)
"""


def _with_sources() -> dict[str, str]:
    return python_environment()
