"""Connections to engines are reused. Is a query ever lost because an engine closed one of them? No."""

import asyncio
import signal
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.load import Load, between
from tests.support.dataplane.relocation import engine_cluster
from tests.support.dataplane.rig import Rig, eventually

IDLE_SECONDS = 2.0  # the least patience of an engine with an idle connection

MOST_RACES = 5  # a busy machine may miss the moment


async def rig_with_closing_engines(rig: Rig) -> None:
    """One engine announces that it closes, the other one closes connections that are idle."""
    [announcing], [closing] = await rig.generation(1), await rig.generation(1)
    announcing.announces_close_every = 7
    for pod in (announcing, closing):
        pod.closes_idle_after = IDLE_SECONDS
    rig.point("announces", [announcing])
    rig.point("closes", [closing])
    rig.ledger.is_counting_only = True


@pytest.mark.parametrize(
    "count", [pytest.param(5_000, id="short"), pytest.param(200_000, id="full", marks=pytest.mark.slow)]
)
async def test_given_engines_that_close_connections_when_queried_then_none_is_lost_or_runs_twice(
    rig: Rig, count: int
) -> None:
    await rig_with_closing_engines(rig)
    busy = Load(rig.client, "announces")
    # Pauses around the moment at which the engine gives up on a connection.
    pausing = Load(rig.client, "closes", pause=between(0.0, 2 * IDLE_SECONDS))
    async with asyncio.TaskGroup() as group:
        group.create_task(busy.in_flight(8))
        group.create_task(pausing.in_flight(64))
        await eventually(lambda: _sent(busy, pausing, count), 900, "enough queries")
        busy.is_over = pausing.is_over = True
    print(f"busy: {busy.report}\npausing: {pausing.report}")
    assert busy.report.failures + pausing.report.failures == []
    assert rig.ledger.executed_twice() == {}
    assert rig.ledger.counts.total() == busy.report.sent + pausing.report.sent


async def _sent(first: Load, second: Load, count: int) -> bool:
    return first.report.sent + second.report.sent >= count


def connections_kept_for_ever(bootstrap: Manifest) -> None:
    options = engine_cluster(bootstrap)["typed_extension_protocol_options"]
    for settings in options.values():
        settings["common_http_protocol_options"] = {"idle_timeout": "3600s"}


async def query_while_the_engine_closes(rig: Rig) -> Message:
    """The race made certain: Envoy stands still while first a query arrives and then the engine's farewell."""
    [pod] = await rig.generation(1)
    rig.point("eng", [pod])
    await rig.client.query("/?id=first")
    await asyncio.sleep(IDLE_SECONDS)
    rig.envoy.process.send_signal(signal.SIGSTOP)
    try:
        await eventually(lambda: _stands_still(rig.envoy.process.pid), 30, "Envoy stands still")
        async with asyncio.TaskGroup() as group:
            racing = group.create_task(rig.client.query("/?id=racing"))
            await asyncio.sleep(0.1)
            pod.close_idle_connections()
            await eventually(lambda: _has_no_connection(pod), 30, "the engine closed its connections")
            rig.envoy.process.send_signal(signal.SIGCONT)
    finally:
        rig.envoy.process.send_signal(signal.SIGCONT)
    return racing.result()


async def _stands_still(pid: int) -> bool:
    """Threads stop one after the other, so a worker may run on for a moment."""
    return {state_of(task) for task in threads_of(pid)} == {"T"}


def threads_of(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())


def state_of(thread: Path) -> str:
    return (thread / "stat").read_text().rpartition(")")[2].split()[0]


async def _has_no_connection(pod: EnginePod) -> bool:
    return not pod.connections


async def test_given_an_engine_that_closes_an_idle_connection_when_a_query_comes_at_that_moment_then_it_is_answered(
    rig: Rig,
) -> None:
    assert (await query_while_the_engine_closes(rig)).status == 200
    assert rig.ledger.counts["racing"] == 1


async def test_given_connections_kept_for_ever_when_a_query_comes_at_that_moment_then_it_would_be_lost(
    start_rig: StartRig,
) -> None:
    """The control: this is why connections are reused for a second and not longer."""
    for _ in range(MOST_RACES):
        async with start_rig(change=connections_kept_for_ever) as rig:
            answer = await query_while_the_engine_closes(rig)
            if (answer.status, rig.ledger.counts["racing"]) == (503, 0):
                return
    pytest.fail("nothing was lost, so the rule proves nothing")
