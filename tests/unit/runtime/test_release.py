"""When a leader stops in the middle of a write, does the next one begin before that write is over?"""

import asyncio

import pytest

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime import manager as manager_module
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Outcome
from firebolt_operator.runtime.doubts import Doubts
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.work_queue import WorkQueue
from firebolt_operator.wiring.operate import _recorder
from tests.support.manual_clock import ManualClock
from tests.support.recorders import PassNotes, QueueNotes
from tests.unit.kube.wire import CountedRecorder, Step, WireServer, a_client, a_config_map, an_identity, answer, silence
from tests.unit.runtime.memory_leases import MemoryLeases
from tests.unit.runtime.test_leader import Candidate, holder_of


def a_writing_controller(client: KubeClient, answered: asyncio.Event) -> Controller[str]:
    """One pass: it writes, and then takes its time."""

    async def write(_key: str) -> Outcome:
        await client.apply(a_config_map())
        answered.set()
        await asyncio.Event().wait()
        return Outcome("never")

    clock = SystemClock()
    queue: WorkQueue[str] = WorkQueue(clock, QueueNotes())
    queue.add("key")
    settings = ControllerSettings[str](name="writer", describe=lambda key: {"key": key}, workers=1)
    return Controller(settings, write, queue, PassNotes(), clock)


@pytest.mark.parametrize(
    ("server", "holder"),
    [
        pytest.param(silence, "me", id="under-way"),
        pytest.param(answer(200, a_config_map()), "", id="answered"),
    ],
)
async def test_given_a_pass_that_is_cancelled_then_the_lease_is_released_only_if_its_write_was_answered(
    monkeypatch: pytest.MonkeyPatch, server: Step, holder: str
) -> None:
    monkeypatch.setattr(manager_module, "FINISH_SECONDS", 0.05)
    leases, stop, answered = MemoryLeases(ManualClock()), asyncio.Event(), asyncio.Event()
    candidate = Candidate(leases)
    fence = candidate.election.fence
    recorder = Doubts(fence, CountedRecorder())
    async with WireServer(server) as wire, a_client(wire.url, fence=fence, recorder=recorder) as client:
        manager = Manager(controllers=[a_writing_controller(client, answered)], election=candidate.election)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(manager.run_until(stop), name="manager")
            await (wire.arrived if server is silence else answered).wait()
            stop.set()
    assert running.result() == 0
    assert (holder_of(leases), candidate.may_write) == (holder, False)


def test_given_the_operator_s_own_door_then_the_fence_hears_of_writes_that_were_not_answered() -> None:
    fence = Candidate(MemoryLeases(ManualClock())).election.fence
    recorder = _recorder(
        Metrics(), Credentials(server="https://localhost", identity=an_identity(), source="a test"), fence
    )
    recorder.request("PATCH", "200", 0.1, "services", "patch")
    assert not fence.is_in_doubt
    recorder.request("PATCH", "error", 0.1, "services", "patch")
    assert fence.is_in_doubt
