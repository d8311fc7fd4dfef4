"""How does the gateway learn which pods an engine has, and which of them are well?"""

import asyncio

from tests.dataplane.conftest import StartRig
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.rig import Rig, eventually, service_host


async def test_given_a_pod_that_turns_unhealthy_when_checked_then_it_is_out_until_it_is_well(rig: Rig) -> None:
    pods = await rig.generation(2)
    rig.point("eng", pods)
    await rig.client.query()
    pods[0].is_ready = False

    async def ejected() -> bool:
        return (await rig.hosts()).get(pods[0].address) == "/failed_active_hc"

    took = await eventually(ejected, 30, "the pod is out")
    rig.ledger.executions.clear()
    for number in range(6):
        assert (await rig.client.query(f"/?id=q{number}")).status == 200
    assert {each.pod for each in rig.ledger.executions} == {pods[1].address}
    pods[0].is_ready = True

    async def back() -> bool:
        return (await rig.hosts()).get(pods[0].address) == "healthy"

    await eventually(back, 30, "the pod is back")
    print(f"ejected after {took:.2f} s")


async def test_given_a_running_query_when_its_pod_turns_unhealthy_then_it_ends_well(rig: Rig) -> None:
    pods = await rig.generation(1)
    rig.point("eng", pods)
    await rig.client.query()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query("/?id=long&delay=3"))
        await eventually(lambda: _runs(pods[0]), 30, "the query runs")
        pods[0].begin_shutdown()
    assert (running.result().status, rig.ledger.counts["long"]) == (200, 1)


async def test_given_a_new_answer_of_dns_when_refreshed_then_all_queries_move_though_old_pods_are_healthy(
    rig: Rig,
) -> None:
    old, new = await rig.generation(2), await rig.generation(3)
    rig.zone.ttl = 30  # what DNS says about keeping answers is not followed
    rig.point("eng", old)
    await rig.client.query()
    rig.point("eng", new)

    async def moved() -> bool:
        return set(await rig.hosts()) == {pod.address for pod in new}

    took = await eventually(moved, 30, "the hosts are the new ones")
    rig.ledger.executions.clear()
    for number in range(9):
        assert (await rig.client.query(f"/?id=q{number}")).status == 200
    assert {each.pod for each in rig.ledger.executions} == {pod.address for pod in new}
    print(f"moved after {took:.2f} s")


async def test_given_a_running_query_when_dns_moves_on_then_it_ends_well(rig: Rig) -> None:
    old, new = await rig.generation(1), await rig.generation(1)
    rig.point("eng", old)
    await rig.client.query()
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query("/?id=long&delay=4"))
        await eventually(lambda: _runs(old[0]), 30, "the query runs")
        rig.point("eng", new)
    assert running.result().headers["x-pod"] == old[0].address
    assert rig.ledger.counts["long"] == 1


async def test_given_no_pods_when_asked_then_the_answer_is_quick_and_clear(rig: Rig) -> None:
    rig.zone.set(service_host("empty"))
    for engine in ("empty", "unknown", "longer-than-any-dns-label-could-be-" + "x" * 28):
        answer = await rig.client.query("/?id=q", engine)
        assert answer.status == 503
        assert "x-firebolt-outcome" not in answer.headers


async def test_given_an_engine_without_pods_when_some_appear_then_queries_reach_them(rig: Rig) -> None:
    rig.zone.set(service_host("eng"))
    assert (await rig.client.query("/?id=early")).status == 503
    rig.point("eng", await rig.generation(1))

    async def answers() -> bool:
        return (await rig.client.query("/?id=later")).status == 200

    await eventually(answers, 30, "the engine answers")


async def test_given_one_engine_when_asked_for_long_then_lookups_stay_few(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.query()
    rig.zone.lookups.clear()
    begun = asyncio.get_running_loop().time()
    await asyncio.sleep(4)
    elapsed = asyncio.get_running_loop().time() - begun
    assert set(rig.zone.lookups) == {service_host("eng")}
    assert rig.zone.lookups.total() <= 2 * (elapsed + 1)  # an A and an AAAA question a second


async def test_given_two_workers_when_asked_then_both_know_the_hosts(start_rig: StartRig) -> None:
    async with start_rig(concurrency=2) as rig:
        rig.point("eng", await rig.generation(2))
        answers = [await rig.client.query(f"/?id=q{number}") for number in range(20)]
        assert {answer.status for answer in answers} == {200}


async def test_given_as_many_queries_as_the_breaker_allows_when_more_come_then_only_that_engine_refuses(
    rig: Rig,
) -> None:
    hanging, well = await rig.generation(2), await rig.generation(1)
    rig.point("hangs", hanging)
    rig.point("well", well)
    for engine in ("hangs", "well"):
        await rig.client.query(engine=engine)
    for pod in hanging:
        pod.is_silent = True
    async with asyncio.TaskGroup() as group:

        def more() -> list[asyncio.Task[Message]]:
            return [group.create_task(rig.client.query("/", "hangs", deadline=600)) for _ in range(64)]

        # 1024 on connections, 1024 waiting for one: from there on queries are refused.
        filling = more()
        for wanted in range(64, 2049, 64):
            await eventually(lambda: _taken(rig, wanted), 60, f"{wanted} queries")  # noqa: B023 - awaited here
            if wanted < 2048:
                filling += more()
        refused = await rig.client.query("/?id=over", "hangs")
        sibling = [await rig.client.query(f"/?id=w{number}", "well") for number in range(20)]
        for task in filling:
            task.cancel()
    assert (refused.status, rig.ledger.counts["over"]) == (503, 0)
    assert [answer.status for answer in sibling] == [200] * 20
    await eventually(lambda: _logged(rig, "id=over", "flags=UO"), 30, "the log says why")


async def _runs(pod: EnginePod) -> bool:
    return pod.running > 0


async def _taken(rig: Rig, count: int) -> bool:
    gauges = await rig.envoy.stats("DFPCluster.*hangs.*upstream_rq_(pending_)?active$")
    return sum(gauges.values()) == count


async def _logged(rig: Rig, *words: str) -> bool:
    return any(all(word in line for word in words) for line in rig.envoy.access_log())
