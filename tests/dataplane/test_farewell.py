"""A gateway pod stops while it holds queries, with a live Envoy and the agent's own parts: is anybody forgotten?"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from firebolt_operator.api import names
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.envoy_admin import EnvoyAdmin, admin_session
from firebolt_operator.wake.farewell import Farewell
from firebolt_operator.wake.metrics import WakeMetrics
from firebolt_operator.wake.server import hold_app, serving
from tests.support.dataplane.leaving import leave
from tests.support.dataplane.rig import Rig, eventually, running_rig
from tests.support.wake import LEVELS, Bench

GRACE_SECONDS = 15
REFUSAL = b"engine is not available; retry shortly"


@dataclass(frozen=True, slots=True)
class Pod:
    """Envoy and the agent, as they stand beside each other."""

    rig: Rig
    bench: Bench
    farewell: Farewell

    async def holds(self, count: int) -> bool:
        return self.bench.holds.total == count


async def _stays() -> bool:
    """The instance."""
    return False


@asynccontextmanager
async def a_pod(folder: Path) -> AsyncGenerator[Pod]:
    clock = SystemClock()
    async with running_rig(folder, wake=True, agent_runs=False) as rig, admin_session() as session:
        bench = Bench(clock=clock)
        bench.sync()
        admin = EnvoyAdmin(f"http://{rig.address}:{names.PORT_ENVOY_ADMIN}", session)
        grace = timedelta(seconds=GRACE_SECONDS)
        farewell = Farewell(bench.handler.answer, admin, clock, grace, _stays)
        app = hold_app(farewell.answer, WakeMetrics(Metrics(), LEVELS))
        async with serving(app, BindAddress(rig.address, names.PORT_WAKE_HOLD)), asyncio.TaskGroup() as services:
            arrivals = services.create_task(bench.arrivals.run())
            yield Pod(rig, bench, farewell)
            arrivals.cancel()


async def test_given_held_queries_when_the_pod_stops_then_they_are_refused_in_time_and_the_agent_leaves_after_envoy(
    tmp_path: Path,
) -> None:
    async with a_pod(tmp_path) as pod, asyncio.TaskGroup() as group:
        held = [group.create_task(pod.rig.client.query(f"/?id=q{number}")) for number in range(20)]
        await eventually(lambda: pod.holds(20), 30, "all are held")
        left = group.create_task(pod.farewell.say())
        envoy = group.create_task(leave(pod.rig, GRACE_SECONDS))
        answers = [await each for each in held]
        assert {(answer.status, answer.body) for answer in answers} == {(503, REFUSAL)}
        # Refused while Envoy was there: it had the time to pass the answers on.
        assert (left.done(), pod.rig.envoy.process.returncode) == (False, None)
        await envoy
        async with asyncio.timeout(30):
            await left


async def test_given_a_held_query_when_its_engine_comes_while_the_pod_stops_then_it_is_answered(tmp_path: Path) -> None:
    async with a_pod(tmp_path) as pod, asyncio.TaskGroup() as group:
        held = group.create_task(pod.rig.client.query("/?id=held"))
        await eventually(lambda: pod.holds(1), 30, "the query is held")
        left = group.create_task(pod.farewell.say())
        envoy = group.create_task(leave(pod.rig, GRACE_SECONDS))
        pods = await pod.rig.generation(1)
        pod.rig.point("eng", pods)
        pod.bench.point("eng", pods[0].address)
        assert (await held).status == 200
        await envoy
        async with asyncio.timeout(30):
            await left
