"""Signals and exit codes of a real process."""

import signal
import subprocess
from contextlib import AbstractContextManager

import pytest

from tests.support.child_processes import python_process

SCRIPT = """
import asyncio, sys
from firebolt_operator.runtime.process import run_process

async def main(stop):
    print("ready", flush=True)
    await stop.wait()
    {after}

sys.exit(run_process(main, stop_seconds={limit}))
"""


def a_process(after: str, limit: float = 3600) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return python_process(SCRIPT.format(after=after, limit=limit))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_given_a_first_signal_then_main_stops_in_its_own_way(number: signal.Signals) -> None:
    with a_process("return 0") as process:
        process.send_signal(number)
        assert process.wait() == 0


def test_given_main_fails_then_its_code_is_the_exit_code() -> None:
    with a_process("return 1") as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1


def test_given_a_second_signal_then_the_process_ends_at_once_with_1() -> None:
    # Nothing else would end it within the hour.
    with a_process('print("stopping", flush=True); await asyncio.sleep(3600)', limit=3600) as process:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert process.stdout.readline() == b"stopping\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1


def test_given_a_component_that_hangs_then_the_process_ends_in_time_with_1() -> None:
    with a_process("await asyncio.sleep(3600)", limit=0.3) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 1
