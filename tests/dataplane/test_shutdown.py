"""How does a gateway pod go? Unready first, then when its queries are done, and within its grace period."""

import asyncio
import signal

import pytest

from tests.dataplane.conftest import StartRig
from tests.support.dataplane.client import Client, ConnectionEndedError
from tests.support.dataplane.leaving import leave, run_hook
from tests.support.dataplane.pausing_reader import MIB, PausingReader, little_room_in_the_kernel
from tests.support.dataplane.rig import Change, Rig, eventually

METRICS_PORT = 9090
GRACE_SECONDS = 15
SPREAD_SECONDS = 8
NOT_TO_BE_WAITED_FOR = 3600  # a grace that no test sees the end of


async def is_unready(probes: Client) -> bool:
    return (await probes.get("/healthz")).status == 503


async def is_running(rig: Rig) -> bool:
    return any(pod.running for pod in rig.pods)


async def test_given_running_queries_when_the_pod_stops_then_it_is_unready_at_once_and_they_end_well(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.query()
    probes = Client(rig.address, METRICS_PORT)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query("/?id=long&delay=11"))
        await eventually(lambda: is_running(rig), 30, "the query runs")
        hook = group.create_task(leave(rig, NOT_TO_BE_WAITED_FOR))
        await eventually(lambda: is_unready(probes), 30, "probes fail")
        # Clients that have not heard of it yet are still served, and asked to connect anew.
        late = await rig.client.query("/?id=late")
        assert (late.status, late.headers.get("connection")) == (200, "close")
    assert running.result().status == 200
    assert hook.result() > 10
    probes.close()


@pytest.mark.parametrize(
    "seconds", [pytest.param(20, id="twenty-seconds"), pytest.param(60, id="a-minute", marks=pytest.mark.slow)]
)
async def test_given_two_minutes_when_a_query_takes_longer_than_the_usual_grace_then_it_ends_well_and_envoy_leaves(
    rig: Rig, seconds: float
) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.query()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query(f"/?id=long&delay={seconds}", deadline=180))
        await eventually(lambda: is_running(rig), 30, "the query runs")
        hook = group.create_task(leave(rig, 120))
    assert (running.result().status, rig.ledger.counts["long"]) == (200, 1)
    # As soon as the query has ended, not when the two minutes are over.
    assert hook.result() < 100


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(little_room_in_the_kernel, id="the-rest-is-in-envoy"),
        pytest.param(None, id="the-rest-is-in-the-kernel"),
    ],
)
async def test_given_a_client_that_reads_slowly_when_the_pod_stops_then_it_gets_its_whole_answer(
    start_rig: StartRig, change: Change | None
) -> None:
    """Envoy counts a query as done when the last byte is in a buffer; the client has it later."""
    async with start_rig(change=change) as rig:
        rig.point("eng", await rig.generation(1))
        reader, size = PausingReader(rig), MIB
        try:
            await reader.ask(size)
            await eventually(lambda: is_done(rig), 30, "for Envoy the query is done")
            async with asyncio.TaskGroup() as group:
                hook = group.create_task(leave(rig, NOT_TO_BE_WAITED_FOR))
                await asyncio.sleep(SPREAD_SECONDS + 3)
                assert not hook.done()
                assert await reader.read_all(size) == size
        finally:
            reader.close()


async def is_done(rig: Rig) -> bool:
    return await rig.envoy.stat("http.gateway.downstream_rq_active") == 0


async def test_given_no_queries_when_the_pod_stops_then_it_waits_for_clients_to_hear_of_it_and_no_longer(
    rig: Rig,
) -> None:
    assert await run_hook(rig, NOT_TO_BE_WAITED_FOR) >= SPREAD_SECONDS


async def test_given_an_endless_query_when_the_pod_stops_then_the_hook_ends_within_the_grace_period(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    async with asyncio.TaskGroup() as group:
        endless = group.create_task(rig.client.query("/?id=endless&delay=600", deadline=900))
        await eventually(lambda: is_running(rig), 30, "the query runs")
        assert await run_hook(rig, GRACE_SECONDS) > GRACE_SECONDS - 2
        assert not endless.done()
        endless.cancel()


async def test_given_no_envoy_when_the_pod_stops_then_the_hook_does_not_hang(rig: Rig) -> None:
    rig.envoy.process.send_signal(signal.SIGTERM)
    await rig.envoy.process.wait()
    await run_hook(rig, NOT_TO_BE_WAITED_FOR)
    try:
        await rig.client.query()
    except (OSError, ConnectionEndedError):
        return
    raise AssertionError("a stopped gateway answered")
