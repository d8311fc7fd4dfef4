"""The kernel ends a process that cannot end itself, before it does anything more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

SCRIPT = """
import itertools, os, sys, time
from firebolt_operator.runtime.dead_man import KernelSwitch
switch = KernelSwitch()
{steps}
"""


@contextmanager
def a_process(steps: str) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(steps=steps)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_given_a_process_that_hangs_in_a_call_then_it_ends_with_code_1() -> None:
    with a_process("switch.arm(0.3); time.sleep(60)") as process:
        assert process.wait(timeout=10) == 1


def test_given_a_process_that_is_disarmed_or_armed_again_in_time_then_it_lives() -> None:
    steps = "switch.arm(0.3); switch.arm(60); switch.arm(0.2); switch.disarm(); time.sleep(0.6); sys.exit(7)"
    with a_process(steps) as process:
        assert process.wait(timeout=10) == 7


def test_given_a_frozen_process_when_it_thaws_too_late_then_it_writes_nothing_more() -> None:
    steps = "switch.arm(1.0)\nfor n in itertools.count(): os.write(1, b'%d\\n' % n)"
    with a_process(steps) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGSTOP)
        _until_stopped(process.pid)
        os.set_blocking(process.stdout.fileno(), False)
        while process.stdout.read(1 << 20):
            pass
        time.sleep(1.2)
        os.kill(process.pid, signal.SIGCONT)
        assert process.wait(timeout=10) == 1
        assert not process.stdout.read()


def _until_stopped(pid: int) -> None:
    while True:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123 - not a file of ours
            if file.read().rpartition(") ")[2].startswith("T"):
                return
