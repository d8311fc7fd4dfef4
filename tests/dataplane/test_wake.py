"""What does a live Envoy do with the wake agent's answers, and without them?"""

import asyncio

import pytest

from tests.dataplane.conftest import StartRig
from tests.support.dataplane.load import Load
from tests.support.dataplane.rig import Rig, eventually, service_host

REFUSAL = b"engine is not available; retry shortly"


async def test_given_a_ready_engine_when_queried_at_length_then_the_agent_is_asked_by_one_for_all(
    start_rig: StartRig,
) -> None:
    async with start_rig(wake=True) as rig:
        rig.point("eng", await rig.generation(1))
        load = Load(rig.client)
        async with asyncio.TaskGroup() as group:
            began_at = asyncio.get_running_loop().time()
            group.create_task(load.in_flight(16))
            await load.until_sent(2000)
            elapsed = asyncio.get_running_loop().time() - began_at
            load.is_over = True
        assert load.report.failures == []
        # All who come before the first answer ask, and after each stall of the machine; otherwise one does for all.
        assert 0 < rig.agent.asked["eng"] <= 16 * (elapsed / 0.2 + 1)
        assert rig.agent.asked["eng"] < load.sent / 4
        print(f"{rig.agent.asked['eng']} questions for {load.report.sent} queries")


@pytest.mark.parametrize("decision", ["shed", "timeout", "rejected"])
async def test_given_a_refusal_when_asked_then_the_query_is_refused_and_nobody_runs_it(
    start_rig: StartRig, decision: str
) -> None:
    async with start_rig(wake=True) as rig:
        rig.point("eng", await rig.generation(1))
        rig.agent.status, rig.agent.decision = (400 if decision == "rejected" else 503), decision
        answer = await rig.client.query("/?id=refused")
        assert (answer.status, answer.headers["retry-after"], answer.body) == (503, "10", REFUSAL)
        assert "x-firebolt-outcome" not in answer.headers
        assert rig.ledger.executions == []


async def test_given_a_refusal_without_the_agents_own_mark_when_asked_then_the_query_goes_on(
    start_rig: StartRig,
) -> None:
    async with start_rig(wake=True) as rig:
        rig.point("eng", await rig.generation(1))
        rig.agent.status, rig.agent.decision = 503, ""
        assert (await rig.client.query("/?id=on")).status == 200


async def test_given_no_agent_when_asked_then_the_query_goes_on_to_its_engine_and_nowhere_else(
    start_rig: StartRig,
) -> None:
    async with start_rig(wake=True, agent_runs=False) as rig:
        rig.point("eng", await rig.generation(1))
        answers = [await rig.client.query(f"/?id=q{number}") for number in range(10)]
        assert {answer.status for answer in answers} == {200}
        assert {each.headers["host"] for each in rig.ledger.executions} == {f"{service_host('eng')}:3473"}
        assert rig.envoy.complaints() == []


async def test_given_a_hold_when_released_then_the_query_runs_once_with_its_body_and_headers(
    start_rig: StartRig,
) -> None:
    async with start_rig(wake=True) as rig:
        rig.agent.is_holding = True
        rig.zone.set(service_host("eng"))
        body = b"x" * 1_000_000
        async with asyncio.TaskGroup() as group:
            held = group.create_task(rig.client.query("/?a=1&engine=eng&id=held", body=body))
            await eventually(lambda: _waiting(rig, 1), 30, "the query is held")
            rig.point("eng", await rig.generation(1))
            rig.agent.release()
        assert held.result().status == 200
        [ran] = rig.ledger.of("held")
        assert (ran.target, ran.body_bytes) == ("/?a=1&id=held", len(body))
        assert ran.headers["host"] == f"{service_host('eng')}:3473"


async def test_given_a_hold_when_its_sender_leaves_then_the_agent_is_told(start_rig: StartRig) -> None:
    async with start_rig(wake=True) as rig:
        rig.agent.is_holding = True
        async with asyncio.TaskGroup() as group:
            held = group.create_task(rig.client.query("/?id=gone"))
            await eventually(lambda: _waiting(rig, 1), 30, "the query is held")
            held.cancel()
        await eventually(lambda: _waiting(rig, 0), 30, "the hold has ended")
        assert rig.ledger.executions == []


async def test_given_many_holds_when_released_then_all_are_answered(start_rig: StartRig) -> None:
    async with start_rig(wake=True) as rig:
        rig.agent.is_holding = True
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(rig.client.query(f"/?id=q{number}")) for number in range(200)]
            await eventually(lambda: _waiting(rig, 200), 30, "all queries are held")
            rig.point("eng", await rig.generation(2))
            rig.agent.release()
        assert {task.result().status for task in held} == {200}
        assert rig.ledger.executed_twice() == {}


async def test_given_more_queries_at_once_than_the_agents_queue_takes_when_held_then_none_slips_through(
    start_rig: StartRig,
) -> None:
    async with start_rig(wake=True, agent_backlog=64) as rig:
        rig.agent.is_holding = True
        rig.zone.set(service_host("eng"))
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(rig.client.query(f"/?id=q{number}", deadline=120)) for number in range(200)]
            await eventually(lambda: _waiting(rig, 200), 60, "all queries are held")
            rig.point("eng", await rig.generation(2))
            rig.agent.release()
        assert {task.result().status for task in held} == {200}


async def _waiting(rig: Rig, count: int) -> bool:
    return rig.agent.waiting == count
