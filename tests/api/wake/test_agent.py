"""Does an agent on a real API server hold, wake and release as it should?"""

import asyncio

import aiohttp
import pytest

from firebolt_operator.engine.decide.autostop import is_fresh, parse_wake_request
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.wake.routing import service_host
from tests.api.wake.place import INSTANCE, Place
from tests.api.wake.running import Asked, Reply, an_agent, eventually, pending, resolves, stamps, until_stamped

READY = Reply(200, "ready")
RELEASED = Reply(200, "released")
TIMED_OUT = Reply(503, "timeout", "10", "engine did not become ready")
MISSING = Reply(404, "missing", "", "no such engine")
STOPPED = Reply(503, "stopped", "", "stopped by its owner")
SHED = Reply(503, "shed", "5", "gateway wake capacity reached")


@pytest.fixture
async def gateway(place: Place) -> str:
    """The account of the instance's gateway, with exactly the rights that the operator gives it."""
    await place.make_instance()
    await place.make_engine()
    return await place.make_gateway_account()


async def test_given_five_hundred_holds_when_the_engine_comes_then_all_go_on_after_one_patch(
    place: Place, gateway: str
) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        resolves(place, asked)
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(asked.hold("eng")) for _ in range(500)]
            await asked.until_metric(pending("eng"), 500)
            await until_stamped(place)
            await place.point("eng", "10.0.0.1")
        assert {task.result() for task in held} == {RELEASED}
        assert await asked.hold("eng") == READY
        assert await asked.metric(pending("eng")) == 0
    assert place.patches_by(gateway, "eng") == [200]
    requested_at = parse_wake_request(await place.stamp_of())
    assert is_fresh(requested_at, None, now=SystemClock().now())


async def test_given_endpoints_from_before_when_the_agent_starts_then_their_engines_are_ready_at_once(
    place: Place, gateway: str
) -> None:
    await place.point("eng", "10.0.0.1")
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        assert await asked.hold("eng") == READY
    assert place.patches_by(gateway, "eng") == []


async def test_given_several_slices_when_one_empties_then_the_engine_stays_ready_until_all_have(
    place: Place, gateway: str
) -> None:
    await place.point("eng", "10.0.0.1", part="a")
    await place.point("eng", "10.0.0.2", part="b")
    async with an_agent(place.kubeconfig_of(gateway), place.namespace, hold_timeout=0.2) as asked:
        await place.point("eng", part="a")
        await place.point("other", "10.0.0.9")  # once this is seen, so is what came before it
        await asked.until_metric("firebolt_gateway_wake_ready_engines", 2)
        assert await asked.hold("eng") == READY
        await place.point("eng", part="b")
        await asked.until_metric("firebolt_gateway_wake_ready_engines", 1)
        assert await asked.hold("eng") == TIMED_OUT


async def test_given_ready_endpoints_when_envoy_cannot_route_yet_then_the_hold_waits_for_it(
    place: Place, gateway: str
) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        cluster = f"DFPCluster:{service_host('eng', place.namespace)}:3473::"
        asked.envoy.clusters = f"{cluster}observability_name::x\n{cluster}10.0.0.7:3473::health_flags::healthy\n"
        async with asyncio.TaskGroup() as group:
            held = group.create_task(asked.hold("eng"))
            await asked.until_metric(pending("eng"), 1)
            await place.point("eng", "10.0.0.1")
            await asyncio.sleep(0.5)
            assert asked.envoy.questions == []  # the name does not resolve
            resolves(place, asked)
            await eventually(lambda: _has_asked(asked), "Envoy was asked")
            assert not held.done()
            asked.envoy.clusters += f"{cluster}10.0.0.1:3473::health_flags::healthy\n"
        assert held.result() == RELEASED
        assert set(asked.envoy.questions) == {"DFPCluster:eng-service."}
        await place.point("eng", "10.0.0.2")  # Envoy does not know that one, and is not asked again
        assert await asked.hold("eng") == READY


async def _has_asked(asked: Asked) -> bool:
    return len(asked.envoy.questions) > 3


async def test_given_more_holds_than_fit_when_asked_then_the_rest_is_refused_and_the_engine_is_woken(
    place: Place, gateway: str
) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace, cap=6, hold_timeout=3) as asked:
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(asked.hold("eng")) for _ in range(10)]
        answers = [task.result() for task in held]
        assert (answers.count(SHED), answers.count(TIMED_OUT)) == (7, 3)
    assert place.patches_by(gateway, "eng") == [200]


async def test_given_callers_that_hang_up_when_held_then_their_slots_are_free_and_the_engine_is_woken(
    place: Place, gateway: str
) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace, cap=100) as asked:
        for _ in range(2):
            async with asyncio.TaskGroup() as group:
                held = [group.create_task(asked.hold("eng")) for _ in range(50)]
                await asked.until_metric(pending("eng"), 50)
                for task in held:
                    task.cancel()
            await asked.until_metric(pending("eng"), 0)
        await until_stamped(place)
    assert place.patches_by(gateway, "eng") == [200]


async def test_given_a_name_of_no_engine_when_asked_for_256_times_then_all_end_at_once_and_other_engines_are_held(
    place: Place, gateway: str
) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        resolves(place, asked)
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(asked.hold("nobody")) for _ in range(256)]
            other = group.create_task(asked.hold("eng"))
            await asyncio.wait(held)
            assert not other.done()
            await place.point("eng", "10.0.0.1")
        assert {task.result() for task in held} == {MISSING}
        assert other.result() == RELEASED
        assert await asked.hold("nobody") == MISSING
        assert await asked.metric(stamps("missing")) == 1
    assert place.patches_by(gateway, "nobody") == [404]


async def test_given_an_engine_that_its_owner_stopped_when_asked_for_then_the_answer_comes_at_once(
    place: Place, gateway: str
) -> None:
    await place.make_engine("off", autoStop={"enabled": False, "activeReplicas": 1})
    status = {"phase": "stopped", "currentGeneration": 0, "activeGeneration": 0, "autoStopReason": "Disabled"}
    await place.client.merge_patch(place.engine_ref("off"), {"status": status}, subresource="status")
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        assert await asked.hold("off") == STOPPED
        assert await asked.hold("off") == STOPPED
    assert place.patches_by(gateway, "off") == [200]


async def test_given_an_account_without_rights_when_asked_then_queries_go_on(
    place: Place,
) -> None:
    await place.make_instance()
    account = await place.make_account("mine", "get")
    async with an_agent(place.kubeconfig_of(account), place.namespace, synced=False) as asked:
        assert await asked.hold("eng") == Reply(200, "unsynced")
        assert await asked.hold("Not A Name") == Reply(400, "rejected", "", "invalid engine name")


async def test_given_no_right_to_patch_when_asked_then_the_hold_waits_all_the_same_and_a_grant_helps(
    place: Place, gateway: str
) -> None:
    role = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{place.namespace}/roles/{INSTANCE}-gateway"
    rules = place.plane.http.get(role)["rules"]
    place.plane.http.patch(role, {"rules": [{**rules[0], "verbs": ["get", "list"]}, rules[1]]})
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked, asyncio.TaskGroup() as group:
        resolves(place, asked)
        held = group.create_task(asked.hold("eng"))

        async def is_refused() -> bool:
            return await asked.metric(stamps("forbidden")) >= 2

        await eventually(is_refused, "the patch is refused, twice")
        assert not held.done()
        place.plane.http.patch(role, {"rules": rules})
        await until_stamped(place)
        await place.point("eng", "10.0.0.1")
        assert await held == RELEASED


async def test_given_a_stopping_agent_when_queries_are_held_then_they_end_and_nothing_is_left(
    place: Place, gateway: str
) -> None:
    async with asyncio.TaskGroup() as group:
        async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
            held = [group.create_task(_hold_or_hangup(asked)) for _ in range(100)]
            await asked.until_metric(pending("eng"), 100)
            begun_at = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - begun_at < 8
    assert {task.result() for task in held} == {"hung up"}


async def _hold_or_hangup(asked: Asked) -> str:
    try:
        return (await asked.hold("eng")).decision
    except aiohttp.ClientError:
        return "hung up"


async def test_given_an_unknown_path_when_asked_then_the_agent_makes_no_decision(place: Place, gateway: str) -> None:
    async with an_agent(place.kubeconfig_of(gateway), place.namespace) as asked:
        for port in (asked.ports.hold, asked.ports.metrics):
            async with asked.session.get(f"http://127.0.0.1:{port}/demand") as answer:
                assert (answer.status, "x-firebolt-wake-decision" in answer.headers) == (404, False)
            async with asked.session.get(f"http://127.0.0.1:{port}/healthz") as answer:
                assert (answer.status, await answer.text()) == (200, "")
