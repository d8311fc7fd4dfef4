"""Envoy, agent, API server and operator, all real: does a query wake its engine, once, and does nothing else?"""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, LABEL_ENGINE
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS
from firebolt_operator.refs import Manifest
from firebolt_operator.wake.decide.wake_requests import REFRESH_SECONDS
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, condition
from tests.api.wake.place import INSTANCE, Place
from tests.api.waking.conftest import StartGateway
from tests.api.waking.gateway import Gateway, answers, stamps
from tests.support.dataplane.load import Load

pytestmark = pytest.mark.root

AUTO_STOP: dict[str, Any] = {"enabled": True, "activeReplicas": 1}
UNREADY: Manifest = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
REFUSAL = b"engine is not available; retry shortly"


async def parked(person: Person, operator: Operator, template: Manifest | None = None, **auto_stop: Any) -> None:
    await person.make_engine(replicas=0, autoStop=AUTO_STOP | auto_stop, template=template or {})
    await operator.until_phase("stopped")


async def let_in(person: Person) -> None:
    """Lets the pods of an engine turn ready that was parked as unready; they may still have to be made."""
    pods = set[str]()
    while not pods:
        pods = await person.names(PODS, f"{LABEL_ENGINE}=eng")
    for pod in pods:
        await person.annotate_pod(pod, ready=None)


async def _status(gateway: Gateway, query: str, engine: str) -> int:
    return (await gateway.client.query(f"/?id={query}", engine, deadline=110)).status


async def test_given_five_hundred_clients_when_the_engine_is_parked_then_one_request_wakes_it_and_all_are_answered(
    person: Person, place: Place, operator: Operator, start_gateway: StartGateway
) -> None:
    await parked(person, operator, UNREADY)
    async with start_gateway("--fallback-hold-cap=1000") as gateway, asyncio.TaskGroup() as group:
        began_at = asyncio.get_running_loop().time()
        sent = [group.create_task(_status(gateway, f"q{number}", "eng")) for number in range(500)]
        woken = await operator.until(lambda engine: engine.status.auto_stop_reason == "WakeRequested")
        assert woken.spec is not None
        assert woken.spec.replicas == 1
        await gateway.until_held(500)
        await let_in(person)
        await asyncio.wait(sent)
        failed = [line for line in gateway.envoy.access_log() if " 503 " in line]
        assert ({task.result() for task in sent}, failed) == ({200}, [])
        assert await gateway.agent.metric(answers("released")) == 500
        assert gateway.cluster.ledger.executed_twice() == {}
        patches = place.patches_by(gateway.account, "eng")
        assert set(patches) == {200}
        assert len(patches) <= 1 + (asyncio.get_running_loop().time() - began_at) // REFRESH_SECONDS
        assert (await gateway.client.query("/?id=after")).status == 200


async def test_given_more_clients_than_fit_when_the_engine_is_parked_then_the_surplus_is_told_to_come_back(
    person: Person, operator: Operator, start_gateway: StartGateway
) -> None:
    await parked(person, operator, UNREADY)
    async with start_gateway("--fallback-hold-cap=10") as gateway, asyncio.TaskGroup() as group:
        sent = [group.create_task(gateway.client.query(f"/?id=q{number}", deadline=110)) for number in range(20)]
        await gateway.agent.until_metric(answers("shed"), 15)
        await let_in(person)
        await asyncio.wait(sent)
        found = [task.result() for task in sent]
        refused = [each for each in found if each.status == 503]
        assert [each.status for each in found].count(200) == 5
        assert {(each.headers["retry-after"], each.body) for each in refused} == {("10", REFUSAL)}
        assert await gateway.agent.metric(answers("shed")) == 15


async def test_given_a_client_that_leaves_when_the_engine_is_parked_then_it_wakes_all_the_same(
    person: Person, operator: Operator, start_gateway: StartGateway
) -> None:
    async with start_gateway() as gateway, asyncio.TaskGroup() as group:
        await parked(person, operator, UNREADY)
        leaving = group.create_task(gateway.client.query("/?id=gone", deadline=60))
        await gateway.until_held(1)
        leaving.cancel()
        await let_in(person)
        await operator.until_phase("stable")
        await gateway.agent.until_metric("firebolt_gateway_wake_callers_left_total", 1)
        assert gateway.cluster.ledger.of("gone") == []


async def test_given_health_probes_when_the_engine_is_parked_then_nobody_is_asked_for(
    person: Person, place: Place, operator: Operator, gateway: Gateway
) -> None:
    await parked(person, operator)
    for _ in range(10):
        bare = await gateway.client.get("/healthz")
        named = await gateway.client.send(b"GET /healthz HTTP/1.1\r\nhost: g\r\nx-firebolt-engine: eng\r\n\r\n")
        assert (bare.status, named.status) == (200, 200)
    assert (await gateway.client.get("/healthz/")).status == 400
    assert await gateway.agent.metric(stamps("stamped")) == 0
    assert await place.stamp_of() == ""
    assert (await operator.stays_at_rest(0)).status.auto_stop_reason == "Stopped"


async def test_given_no_engine_or_one_that_its_owner_stopped_when_queried_then_the_answer_comes_at_once(
    person: Person, operator: Operator, gateway: Gateway
) -> None:
    await person.make_engine("off", replicas=0)
    await operator.until(lambda engine: engine.status.auto_stop_reason == "Disabled", "off")
    off, missing = await gateway.client.query("/?id=off", "off"), await gateway.client.query("/?id=missing", "missing")
    assert (off.status, off.body) == (503, b"engine is stopped by its owner")
    assert (missing.status, missing.body) == (404, b"no such engine")
    assert await gateway.agent.metric(answers("timeout")) == 0


async def test_given_an_agent_that_is_killed_while_it_holds_then_running_engines_serve_on(
    person: Person, operator: Operator, gateway: Gateway
) -> None:
    await person.make_engine("up", replicas=1)
    await person.make_engine("down", replicas=0, autoStop=AUTO_STOP, template=UNREADY)
    await operator.until_phase("stable", "up")
    load = Load(gateway.client, engine="up")
    async with asyncio.TaskGroup() as group:
        group.create_task(load.in_flight(4))
        held = group.create_task(gateway.client.query("/?id=held", "down"))
        await gateway.until_held(1, "down")
        await gateway.agent.kill()
        # Nobody holds it any more: it goes on, to an engine without a pod.
        assert (await held).status == 503
        sent = load.report.sent
        while load.report.sent < sent + 500:  # noqa: ASYNC110 - a load tells nobody
            await asyncio.sleep(0.01)
        load.is_over = True
    assert load.report.failures == []


async def test_given_no_right_to_patch_when_asked_then_that_is_logged_and_counted_and_running_engines_serve_on(
    person: Person, place: Place, operator: Operator, start_gateway: StartGateway
) -> None:
    role = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{place.namespace}/roles/{INSTANCE}-gateway"
    rules = place.plane.http.get(role)["rules"]
    place.plane.http.patch(role, {"rules": [{**rules[0], "verbs": ["get", "list"]}, rules[1]]})
    await person.make_engine("up", replicas=1)
    await operator.until_phase("stable", "up")
    await parked(person, operator)
    async with start_gateway() as gateway, asyncio.TaskGroup() as group:
        held = group.create_task(gateway.client.query("/?id=held", deadline=60))
        await gateway.agent.until_metric(stamps("forbidden"), 1)
        answered = [await gateway.client.query(f"/?id=up-{number}", "up") for number in range(20)]
        assert {each.status for each in answered} == {200}
        assert any("engine not stamped" in line and "403" in line for line in gateway.agent.lines)
        assert not held.done()
        place.plane.http.patch(role, {"rules": rules})
        assert (await held).status == 200


async def test_given_an_operator_that_is_away_when_a_query_asks_then_the_engine_wakes_once_it_returns(
    person: Person, place: Place, start_operator: StartOperator, start_gateway: StartGateway
) -> None:
    async with start_operator() as operator:
        await parked(person, operator)
    async with start_gateway() as gateway, asyncio.TaskGroup() as group:
        held = group.create_task(gateway.client.query("/?id=held", deadline=60))
        await gateway.agent.until_metric(stamps("stamped"), 1)
        assert await place.stamp_of()
        async with start_operator() as operator:
            await operator.until(lambda engine: engine.status.auto_stop_reason == "WakeRequested")
            assert (await held).status == 200


async def test_given_a_woken_engine_when_nobody_asks_again_then_it_is_parked_after_a_whole_idle_timeout_and_stays_so(
    person: Person, place: Place, operator: Operator, gateway: Gateway
) -> None:
    # Its start takes longer than its idle timeout: whoever counted from the request would park it at once.
    template = {"metadata": {"annotations": {"sim.firebolt.io/ready-after": "6s"}}}
    await parked(person, operator, template=template, idleTimeout="4s", pollInterval="500ms")
    assert (await gateway.client.query("/?id=only", deadline=60)).status == 200
    came_up_at = condition(await operator.until_phase("stable")).last_transition_time
    idle = await operator.until(lambda engine: engine.status.auto_stop_reason == "Idle")
    assert idle.status.last_scaled_at is not None
    assert idle.status.last_scaled_at - came_up_at > timedelta(seconds=3)  # written in whole seconds
    stopped = await operator.until_phase("stopped")
    # The stamp is young enough to wake it, and has done so already.
    assert stopped.status.wake_handled_at == datetime.fromisoformat(await place.stamp_of())
    passes = len(operator.engines.ended("eng"))
    await operator.sees(lambda: len(operator.engines.ended("eng")) >= passes + 6)
    assert (await place.engine())["spec"]["replicas"] == 0
    assert (await gateway.client.query("/?id=again", deadline=60)).status == 200


async def test_given_a_running_engine_when_it_rolls_then_no_query_is_held_and_none_is_lost(
    person: Person, start_operator: StartOperator, gateway: Gateway
) -> None:
    load = Load(gateway.client)
    async with start_operator("--drain-settle=3s") as operator:
        await person.make_engine(replicas=2, autoStop=AUTO_STOP | {"activeReplicas": 2})
        await operator.until_at_rest(0)
        assert (await gateway.client.query("/?id=first")).status == 200
        released = await gateway.agent.metric(answers("released"))
        async with asyncio.TaskGroup() as group:
            group.create_task(load.in_flight(4))
            await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
            await operator.until_at_rest(1)
            load.is_over = True
    assert load.report.failures == []
    assert await gateway.agent.metric(answers("ready")) > 0
    assert await gateway.agent.metric(answers("released")) == released
    assert await gateway.agent.metric(answers("timeout")) == 0
    assert await gateway.agent.metric(stamps("stamped")) == 0


@pytest.mark.parametrize(
    ("form", "seconds_ahead"),
    [
        pytest.param("soon", 0, id="no-time"),
        pytest.param("%Y-%m-%dT%H:%M:%S", 0, id="no-zone"),
        pytest.param("%Y-%m-%dT%H:%M:%SZ", 90, id="ahead"),
        pytest.param("%Y-%m-%dT%H:%M:%SZ", 1_000_000, id="far-ahead"),
        pytest.param("%Y-%m-%dT%H:%M:%SZ", -300, id="too-old"),
    ],
)
async def test_given_a_request_that_is_no_fresh_time_then_it_wakes_nobody(
    person: Person, place: Place, operator: Operator, form: str, seconds_ahead: int
) -> None:
    await parked(person, operator)
    at = operator.clock.now() + timedelta(seconds=seconds_ahead)
    notes = {ANNOTATION_WAKE_REQUESTED: at.strftime(form)}
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"annotations": notes}})
    seen = await operator.until(_has_request)
    assert seen.metadata.annotations[ANNOTATION_WAKE_REQUESTED] == notes[ANNOTATION_WAKE_REQUESTED]
    assert (await operator.next_pass()).error == ""
    assert (await place.engine())["spec"]["replicas"] == 0
    assert (await operator.stays_at_rest(0)).status.wake_handled_at is None


def _has_request(engine: FireboltEngine) -> bool:
    return ANNOTATION_WAKE_REQUESTED in engine.metadata.annotations
