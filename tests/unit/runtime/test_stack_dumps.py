"""Does a process say where it stands, hung or not, and nothing that could be a secret?"""

import asyncio
import json
import signal
import subprocess
from typing import Any

import pytest

from firebolt_operator.runtime.stack_dumps import MOST_FRAMES, MOST_STACKS, awaited_stack, dump_stacks
from tests.support.child_processes import python_process

SCRIPT = """
import asyncio, sys
from firebolt_operator.observability.logs import LogSettings, configure_logging
from firebolt_operator.runtime.process import run_process

async def idling():
    password = "a-secret-value"
    await asyncio.Event().wait()

async def main(stop):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(idling(), name=f"worker {{n}}") for n in range(7)]
        await asyncio.sleep(0)
        print("ready", flush=True)
        {then}
        for task in tasks:
            task.cancel()
    return 0

configure_logging(LogSettings())
sys.exit(run_process(main))
"""
WAITING, HUNG = "await stop.wait()", "sys.stdin.read(1)"


def dumped(process: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """The records of one dump; tasks come last, and all of these stand at two places."""
    process.send_signal(signal.SIGUSR1)
    records = list[dict[str, Any]]()
    assert process.stderr is not None
    while sum(record["msg"] == "stack of a task" for record in records) < 2:
        records.append(json.loads(process.stderr.readline()))
    return records


@pytest.mark.parametrize("then", [WAITING, HUNG], ids=["waiting", "hung"])
def test_given_the_signal_then_tasks_and_threads_are_told_by_place_and_the_process_goes_on(then: str) -> None:
    with python_process(SCRIPT.format(then=then)) as process:
        for _ in range(2):
            records = dumped(process)
            assert (records[0]["msg"], records[0]["tasks"]) == ("stacks", 8)
            workers = next(record for record in records if record.get("count") == 7)
            assert workers["names"] == [f"worker {number}" for number in range(5)]
            assert " idling" in workers["stack"][0]
            main = next(
                record for record in records if record["msg"] == "stack of a thread" and "MainThread" in record["names"]
            )
            assert any("runners.py" in place for place in main["stack"])
            assert "a-secret-value" not in json.dumps(records)
        assert process.poll() is None
        if then == WAITING:
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0


async def test_given_crowds_at_many_places_then_the_dump_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    places = dict[str, Any]()
    exec("\n".join(f"async def at_{n}(wait):\n    await wait()" for n in range(MOST_STACKS + 20)), places)
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        for number in range(MOST_STACKS + 20):
            group.create_task(places[f"at_{number}"](stop.wait))
        await asyncio.sleep(0)
        await asyncio.to_thread(dump_stacks, asyncio.get_running_loop())
        stop.set()
    messages = [record.getMessage() for record in caplog.records]
    assert messages.count("stack of a task") == MOST_STACKS
    assert "more stacks" in messages


async def test_given_a_deep_wait_then_its_frames_are_told_from_the_outside_and_bounded() -> None:
    stop = asyncio.Event()

    async def waits(depth: int) -> None:
        await (waits(depth - 1) if depth else stop.wait())

    async with asyncio.TaskGroup() as group:
        shallow, deep = group.create_task(waits(2)), group.create_task(waits(100))
        await asyncio.sleep(0)
        stack = awaited_stack(shallow.get_coro())
        assert ["waits" in place for place in stack] == [True, True, True, False]
        assert "Event.wait" in stack[-1]
        assert len(awaited_stack(deep.get_coro())) == MOST_FRAMES
        stop.set()
