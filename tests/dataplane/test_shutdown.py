"""How does a gateway pod go? Unready first, then when its queries are done, and within its grace period."""

import asyncio
import signal

from firebolt_operator.gateway.clusters import LOOPBACK
from firebolt_operator.gateway.shutdown import GRACE_PERIOD_SECONDS, envoy_lifecycle
from tests.dataplane.support.client import Client, ConnectionEndedError
from tests.dataplane.support.rig import Rig, eventually

METRICS_PORT = 9090


async def run_hook(rig: Rig) -> float:
    """The hook as rendered, on this rig's address; seconds it took."""
    command = [part.replace(LOOPBACK, rig.address) for part in envoy_lifecycle()["preStop"]["exec"]["command"]]
    begun = asyncio.get_running_loop().time()
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    async with asyncio.timeout(30):
        assert await process.wait() == 0
    return asyncio.get_running_loop().time() - begun


async def is_unready(probes: Client) -> bool:
    return (await probes.get("/healthz")).status == 503


async def test_given_running_queries_when_the_pod_stops_then_it_is_unready_at_once_and_they_end_well(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.query()
    probes = Client(rig.address, METRICS_PORT)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query("/?id=long&delay=11"))
        hook = group.create_task(run_hook(rig))
        await eventually(lambda: is_unready(probes), 1, "probes fail")
        # Clients that have not heard of it yet are still served, and asked to connect anew.
        late = await rig.client.query("/?id=late")
        assert (late.status, late.headers.get("connection")) == (200, "close")
    assert running.result().status == 200
    assert 10.5 < hook.result() < GRACE_PERIOD_SECONDS - 1
    rig.envoy.process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(2):
        assert await rig.envoy.process.wait() == 0
    probes.close()


async def test_given_no_queries_when_the_pod_stops_then_it_waits_for_clients_to_hear_of_it(rig: Rig) -> None:
    assert 8 <= await run_hook(rig) < 10


async def test_given_an_endless_query_when_the_pod_stops_then_the_hook_ends_within_the_grace_period(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    async with asyncio.TaskGroup() as group:
        endless = group.create_task(rig.client.query("/?id=endless&delay=60", deadline=90))
        await asyncio.sleep(0.3)
        assert await run_hook(rig) < GRACE_PERIOD_SECONDS
        endless.cancel()


async def test_given_no_envoy_when_the_pod_stops_then_the_hook_does_not_hang(rig: Rig) -> None:
    rig.envoy.process.send_signal(signal.SIGTERM)
    await rig.envoy.process.wait()
    assert await run_hook(rig) < GRACE_PERIOD_SECONDS
    try:
        await rig.client.query()
    except (OSError, ConnectionEndedError):
        return
    raise AssertionError("a stopped gateway answered")
