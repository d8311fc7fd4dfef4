"""The kernel ends a process that cannot end itself, before it does anything more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

SCRIPT = """
import ctypes, os, signal, time
from firebolt_operator.runtime.dead_man import KernelSwitch, _Setting
switch = KernelSwitch()
{steps}
"""
REMAINING = """
def remaining():
    setting = _Setting()
    assert switch._libc.timer_gettime(switch._timer, ctypes.byref(setting)) == 0
    return setting.seconds + (setting.nanoseconds > 0)
pass"""


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
    with a_process("switch.arm(0.3); time.sleep(3600)") as process:
        assert process.wait() == 1


def test_given_a_process_that_arms_it_again_or_disarms_it_then_the_last_word_counts() -> None:
    """The kernel is asked how long it will wait: no time has to pass, and none can be missed."""
    with a_process(f"{REMAINING}; switch.arm(50); switch.arm(5000); print(remaining() > 50)") as process:
        assert process.communicate()[0] == b"True\n"
    with a_process(f"{REMAINING}; switch.arm(5000); switch.arm(50); print(0 < remaining() <= 50)") as process:
        assert process.communicate()[0] == b"True\n"
    with a_process(f"{REMAINING}; switch.arm(50); switch.disarm(); print(remaining())") as process:
        assert process.communicate()[0] == b"0\n"


def test_given_a_frozen_process_when_it_thaws_too_late_then_it_writes_nothing_more() -> None:
    # It freezes itself at once. Where even that takes too long, the switch falls before, and it has to be tried again.
    for margin in (0.2, 2, 20):
        steps = f"switch.arm({margin}); os.kill(os.getpid(), signal.SIGSTOP); os.write(1, b'late')"
        with a_process(steps) as process:
            is_frozen = _state_of(process) == os.CLD_STOPPED
            if is_frozen:
                _until_pending(process.pid, signal.SIGHUP)
                os.kill(process.pid, signal.SIGCONT)
            assert (process.wait(), process.communicate()[0]) == (1, b"")
        if is_frozen:
            return
    raise AssertionError("never frozen in time")


def _state_of(process: subprocess.Popen[bytes]) -> int:
    """When it has ended or stopped: which of the two."""
    found = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert found is not None
    return found.si_code


def _until_pending(pid: int, number: signal.Signals) -> None:
    """The kernel has sent it, and the process is to find it when it thaws."""
    mask = 1 << (number - 1)
    while True:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        (pending,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigPnd:"))
        if int(pending, 16) & mask:
            return
        time.sleep(0.01)
