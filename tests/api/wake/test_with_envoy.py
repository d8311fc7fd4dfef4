"""A live Envoy and the agent's own hold endpoint: is a held query answered, and not just let go?

Endpoints come from the test: a real API server takes no loopback address for one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_operator.api import names
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.envoy_admin import EnvoyAdmin, admin_session
from firebolt_operator.wake.holds import Ending
from firebolt_operator.wake.metrics import WakeMetrics
from firebolt_operator.wake.routing import EnvoyRoutes, Routes
from firebolt_operator.wake.server import hold_app, serving
from tests.api.wake.running import eventually
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.rig import NAMESPACE, Rig, running_rig, service_host
from tests.support.wake import LEVELS, Bench, RoutesOfATest

MakeRoutes = Callable[[Rig, EnvoyAdmin], Routes]
Held = list[asyncio.Task[Message]]


@dataclass(slots=True)
class RoutesOfEnvoy:
    """Counts how often a name was looked up in vain."""

    rig: Rig
    admin: EnvoyAdmin
    vain: int = 0

    async def lead_to(self, engine: str, addresses: Iterable[str], /) -> bool:
        return await EnvoyRoutes(self.admin, NAMESPACE, self._resolve).lead_to(engine, addresses)

    async def _resolve(self, host: str) -> bool:
        is_known = bool(self.rig.zone.visible(host))
        self.vain += not is_known
        return is_known


def routes_unasked(_: Rig, __: EnvoyAdmin) -> Routes:
    return RoutesOfATest()


@asynccontextmanager
async def a_gateway(folder: Path, make_routes: MakeRoutes) -> AsyncGenerator[tuple[Rig, Bench]]:
    clock = SystemClock()
    async with running_rig(folder, wake=True, agent_runs=False) as rig, admin_session() as session:
        admin = EnvoyAdmin(f"http://{rig.address}:{names.PORT_ENVOY_ADMIN}", session)
        bench = Bench(routes=make_routes(rig, admin), clock=clock)
        bench.sync()
        app = hold_app(bench.handler.answer, WakeMetrics(Metrics(), LEVELS))
        async with serving(app, BindAddress(rig.address, names.PORT_WAKE_HOLD)), asyncio.TaskGroup() as services:
            arrivals = services.create_task(bench.arrivals.run())
            assert await admin.allocated_memory()
            yield rig, bench
            arrivals.cancel()


async def hold_then_start(rig: Rig, bench: Bench, may_follow: Callable[[Held], bool]) -> set[int]:
    """The statuses of twenty queries that were held; DNS follows the endpoints later, as in a cluster."""
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(rig.client.query(f"/?id=q{number}")) for number in range(20)]
        await until(lambda: bench.holds.total == 20, "all are held")
        pods = await rig.generation(2)
        bench.point("eng", *(pod.address for pod in pods))
        await until(lambda: may_follow(held), "DNS may follow")
        rig.point("eng", pods)
    return {task.result().status for task in held}


async def stop_engine(rig: Rig, bench: Bench) -> None:
    bench.point("eng")
    rig.zone.set(service_host("eng"))
    rig.stop_pods()
    await eventually(lambda: _has_no_hosts(rig), "Envoy has no host left")
    await until_asked_again(rig, bench)


async def until_asked_again(rig: Rig, bench: Bench) -> None:
    """The script remembers for a moment that the engine was ready, and holds nothing meanwhile."""
    while not await _is_held(rig, bench):
        pass
    await until(lambda: bench.holds.total == 0, "the last probe has left")


async def _is_held(rig: Rig, bench: Bench) -> bool:
    """A query that is, is taken back."""
    async with asyncio.TaskGroup() as group:
        probe = group.create_task(rig.client.query("/?id=probe"))
        await until(lambda: probe.done() or bench.holds.total == 1, "the probe is answered or held")
        probe.cancel()
    return probe.cancelled()


async def until(is_so: Callable[[], bool], what: str) -> None:
    async def check() -> bool:
        return is_so()

    await eventually(check, what)


async def _has_no_hosts(rig: Rig) -> bool:
    return not await rig.hosts()


async def test_given_a_stopped_engine_when_it_starts_then_the_held_queries_are_answered_again_and_again(
    tmp_path: Path,
) -> None:
    asked = list[RoutesOfEnvoy]()

    def routes_of_envoy(rig: Rig, admin: EnvoyAdmin) -> Routes:
        asked.append(RoutesOfEnvoy(rig, admin))
        return asked[0]

    async with a_gateway(tmp_path, routes_of_envoy) as (rig, bench):
        rig.zone.set(service_host("eng"))
        for _ in range(3):
            asked[0].vain = 0
            assert await hold_then_start(rig, bench, lambda _: asked[0].vain > 0) == {200}
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
        assert await hold_then_start(rig, bench, lambda held: all(task.done() for task in held)) == {503}


@pytest.mark.parametrize(
    ("how", "status", "text"),
    [
        (Ending.MISSING, 404, b"no such engine"),
        (Ending.STOPPED, 503, b"engine is stopped by its owner"),
    ],
)
async def test_given_an_engine_that_cannot_be_woken_when_held_then_the_client_is_told_so_and_not_to_retry(
    tmp_path: Path, how: Ending, status: int, text: bytes
) -> None:
    async with a_gateway(tmp_path, routes_unasked) as (rig, bench), asyncio.TaskGroup() as group:
        held = group.create_task(rig.client.query(engine="nobody"))
        await until(lambda: bench.holds.total == 1, "the query is held")
        bench.unwakeable.refuse("nobody", how)
        told = await held
        assert (told.status, told.body, told.headers.get("retry-after")) == (status, text, None)
