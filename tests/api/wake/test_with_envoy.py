"""A live Envoy and the agent's own hold endpoint: is a held query answered, and not just let go?

Endpoints come from the test: a real API server takes no loopback address for one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from firebolt_operator.api import names
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.envoy_admin import EnvoyAdmin, admin_session
from firebolt_operator.wake.metrics import Levels, WakeMetrics
from firebolt_operator.wake.routing import EnvoyRoutes, Routes
from firebolt_operator.wake.server import hold_app, serving
from tests.api.wake.running import eventually
from tests.dataplane.support.rig import NAMESPACE, Rig, running_rig, service_host
from tests.unit.wake.builders import Bench, RoutesOfATest

LEVELS = Levels(
    pending_holds=dict[str, int],
    hold_cap=lambda: 0,
    demand_dropped=lambda: 0,
    is_synced=lambda: True,
    ready_engines=lambda: 0,
)
MakeRoutes = Callable[[Rig, EnvoyAdmin], Routes]


def routes_of_envoy(rig: Rig, admin: EnvoyAdmin) -> Routes:
    async def resolve(host: str) -> bool:
        return bool(rig.zone.visible(host))

    return EnvoyRoutes(admin, NAMESPACE, resolve)


def routes_unasked(_: Rig, __: EnvoyAdmin) -> Routes:
    return RoutesOfATest()


@asynccontextmanager
async def a_gateway(folder: Path, make_routes: MakeRoutes) -> AsyncGenerator[tuple[Rig, Bench]]:
    clock = SystemClock()
    async with running_rig(folder, wake=True, agent_runs=False) as rig, admin_session() as session:
        admin = EnvoyAdmin(f"http://{rig.address}:{names.PORT_ENVOY_ADMIN}", session)
        bench = Bench(routes=make_routes(rig, admin), clock=clock)
        bench.sync()
        app = hold_app(bench.desk.answer, WakeMetrics(Metrics(), LEVELS), clock)
        async with serving(app, BindAddress(rig.address, names.PORT_WAKE_HOLD)), asyncio.TaskGroup() as services:
            arrivals = services.create_task(bench.arrivals.run())
            assert await admin.allocated_memory()
            yield rig, bench
            arrivals.cancel()


async def hold_then_start(rig: Rig, bench: Bench) -> set[int]:
    """The statuses of twenty queries that were held; DNS follows the endpoints a little later, as in a cluster."""
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(rig.client.query(f"/?id=q{number}")) for number in range(20)]
        await eventually(lambda: _are_held(bench, 20), "all are held")
        pods = await rig.generation(2)
        began_at = asyncio.get_running_loop().time()
        bench.point("eng", *(pod.address for pod in pods))
        await asyncio.sleep(0.2)
        rig.point("eng", pods)
    print(f"answered {asyncio.get_running_loop().time() - began_at:.2f} s after the endpoints were ready")
    return {task.result().status for task in held}


async def stop_engine(rig: Rig, bench: Bench) -> None:
    bench.point("eng")
    rig.zone.set(service_host("eng"))
    rig.stop_pods()
    await eventually(lambda: _has_no_hosts(rig), "Envoy has no host left")
    await asyncio.sleep(0.3)  # the script remembers for 250 ms that the engine was ready


async def _are_held(bench: Bench, count: int) -> bool:
    return bench.holds.total == count


async def _has_no_hosts(rig: Rig) -> bool:
    return not await rig.hosts()


async def test_given_a_stopped_engine_when_it_starts_then_the_held_queries_are_answered_again_and_again(
    tmp_path: Path,
) -> None:
    async with a_gateway(tmp_path, routes_of_envoy) as (rig, bench):
        rig.zone.set(service_host("eng"))
        for _ in range(3):
            assert await hold_then_start(rig, bench) == {200}
            assert (await rig.client.query("/?id=after")).status == 200
            await stop_engine(rig, bench)
        assert bench.holds.total == 0


async def test_given_nobody_who_asks_envoy_when_the_engine_starts_again_then_held_queries_fail(tmp_path: Path) -> None:
    """Shows what the question is for: Envoy still remembers an engine without an address."""
    async with a_gateway(tmp_path, routes_unasked) as (rig, bench):
        rig.zone.set(service_host("eng"))
        rig.point("eng", await rig.generation(1))
        bench.point("eng", rig.pods[0].address)
        assert (await rig.client.query("/?id=first")).status == 200
        await stop_engine(rig, bench)
        assert 503 in await hold_then_start(rig, bench)


async def test_given_an_envoy_that_is_away_when_asked_then_queries_are_not_kept_from_it() -> None:
    async def resolve(_: str) -> bool:
        return True

    async with admin_session() as session:
        admin = EnvoyAdmin("http://127.0.0.1:1/", session)
        assert await admin.allocated_memory() is None
        assert await EnvoyRoutes(admin, NAMESPACE, resolve).lead_to("eng", ["10.0.0.1"])
        assert await EnvoyRoutes(EnvoyAdmin("", session), NAMESPACE, resolve).lead_to("eng", ["10.0.0.1"])
