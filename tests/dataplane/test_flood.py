"""Clients ask a live Envoy for names without end, with the agent's own parts behind it: who is answered, who waits?"""

import asyncio
from collections import Counter
from pathlib import Path

from firebolt_operator.api import names
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.decide.wake_books import MOST_STRANGERS
from firebolt_operator.wake.metrics import WakeMetrics
from firebolt_operator.wake.server import hold_app, serving
from tests.support.dataplane.rig import Rig, eventually, running_rig
from tests.support.wake import LEVELS, Bench

CAP = 40
CLIENTS, NAMES_OF_EACH = 50, 20


async def test_given_a_flood_of_made_up_names_when_engines_are_asked_for_then_they_are_held_and_answered(
    tmp_path: Path,
) -> None:
    clock = SystemClock()
    async with running_rig(tmp_path, wake=True, agent_runs=False) as rig:
        bench = Bench(clock=clock, cap=CAP)
        bench.is_known = bench.readiness.is_known
        bench.sync("up")
        bench.point("parked")  # a Service without pods
        rig.point("up", await rig.generation(1))
        app = hold_app(bench.handler.answer, WakeMetrics(Metrics(), LEVELS))
        async with serving(app, BindAddress(rig.address, names.PORT_WAKE_HOLD)), asyncio.TaskGroup() as services:
            arrivals = services.create_task(bench.arrivals.run())
            await _flooded(rig, bench)
            arrivals.cancel()


async def _flooded(rig: Rig, bench: Bench) -> None:
    refusals = Counter[int]()

    async def client(number: int) -> None:
        for each in range(NAMES_OF_EACH):
            answer = await rig.client.query("/?id=junk", f"junk-{number}-{each}", deadline=120)
            refusals[answer.status] += 1

    async with asyncio.TaskGroup() as group:
        junk = [group.create_task(client(number)) for number in range(CLIENTS)]
        # Clients that got a hold wait; all others are refused, each time.
        refused = (CLIENTS - CAP // 4) * NAMES_OF_EACH
        await eventually(lambda: _are_answered(refusals, refused), 60, "the rest is refused")
        assert refusals.keys() == {503}
        assert (bench.holds.total, len(bench.books.strangers) <= MOST_STRANGERS) == (CAP // 4, True)
        held = [
            group.create_task(rig.client.query(f"/?id=q{number}", "parked", deadline=120)) for number in range(CAP // 2)
        ]
        await eventually(lambda: _are_held(bench, "parked", CAP // 2), 30, "all for the parked engine are held")
        assert (await rig.client.query("/?id=up", "up")).status == 200
        pods = await rig.generation(1)
        rig.point("parked", pods)
        bench.point("parked", pods[0].address)
        assert {(await each).status for each in held} == {200}
        for each in junk:
            each.cancel()
    assert {ran.query for ran in rig.ledger.executions} == {"up", *(f"q{number}" for number in range(CAP // 2))}


async def _are_answered(refusals: Counter[int], count: int) -> bool:
    return refusals.total() >= count


async def _are_held(bench: Bench, engine: str, count: int) -> bool:
    return bench.holds.count(engine) == count
