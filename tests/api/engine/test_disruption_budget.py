"""An engine's disruption budget on a real API server: what it covers, when, whose it is, and what it costs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.names import LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS, SERVICES
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import SECONDS, Person
from tests.api.engine.running import Operator, condition, message, reason
from tests.api.engine.strangers import refused

NAME = "eng-pdb"
ONE: Manifest = {"podDisruptionBudget": {"maxUnavailable": 1}}


async def budget(person: Person) -> Manifest:
    return await person.read(POD_DISRUPTION_BUDGETS, NAME)


def covered(manifest: Manifest) -> list[str]:
    selector = manifest["spec"]["selector"]
    (expression,) = selector["matchExpressions"]
    assert selector["matchLabels"] == {LABEL_ENGINE: "eng"}
    assert (expression["key"], expression["operator"]) == (LABEL_GENERATION, "In")
    values: list[str] = expression["values"]
    return values


async def make(person: Person, *, replicas: int = 2, **fields: Any) -> None:
    await person.make_instance()
    await person.make_engine(replicas=replicas, **fields)


@asynccontextmanager
async def recorded(person: Person, *resources: Resource) -> AsyncGenerator[list[tuple[int, Manifest]]]:
    """Every version of what the engine has of these kinds, with the server's number for it."""
    seen = list[tuple[int, Manifest]]()

    async def follow(resource: Resource) -> None:
        scope = Scope(resource=resource, namespace=person.namespace, labels=f"{LABEL_ENGINE}=eng")
        async with aclosing(person.client.watch(scope, resource_version="0")) as events:
            async for event in events:
                if event.type in {"ADDED", "MODIFIED"}:
                    manifest = msgspec.json.decode(event.body)
                    seen.append((int(manifest["metadata"]["resourceVersion"]), manifest))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(resource), name=resource.plural) for resource in resources]
        yield seen
        for task in tasks:
            task.cancel()


async def test_pods_of_the_serving_generation_cannot_be_evicted_beyond_it(operator: Operator, person: Person) -> None:
    await make(person, **ONE)
    await operator.until_at_rest(0)
    found = await budget(person)
    assert (found["spec"]["maxUnavailable"], covered(found)) == (1, ["0"])
    assert found["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    await _until_allowed(person, 1)
    await person.annotate_pod("eng-g0-0", fault="CrashLoopBackOff")
    await _until_allowed(person, 0)
    with pytest.raises(AssertionError, match="violate the pod's disruption budget"):
        await _evict(person, "eng-g0-1")
    await _evict(person, "eng-g0-0")  # it serves nobody, and keeps no node


async def test_at_no_moment_of_a_rollout_is_the_serving_generation_uncovered(
    operator: Operator, person: Person
) -> None:
    await make(person, **ONE)
    await operator.until_at_rest(0)
    async with recorded(person, POD_DISRUPTION_BUDGETS, SERVICES) as seen:
        await person.edit_engine(replicas=3)
        await operator.until_at_rest(1)
        await operator.sees(lambda: covered(_newest(seen, NAME)) == ["1"] if _has(seen, NAME) else None)
    routed, guarded, moments = "", list[str](), list[tuple[str, list[str]]]()
    for _, manifest in sorted(seen, key=lambda each: each[0]):
        if manifest["metadata"]["name"] == NAME:
            guarded = covered(manifest)
        elif manifest["metadata"]["name"] == "eng-service":
            routed = manifest["spec"]["selector"][LABEL_GENERATION]
        if routed and guarded and (not moments or moments[-1] != (routed, guarded)):
            moments.append((routed, guarded))
    assert moments == [("0", ["0"]), ("0", ["0", "1"]), ("1", ["0", "1"]), ("1", ["1"])]


async def test_at_rest_it_costs_no_request_and_without_one_nobody_is_ever_asked(
    operator: Operator, person: Person
) -> None:
    await make(person, **ONE)
    await operator.stays_at_rest(0)
    operator.requests.seen.clear()
    await person.make_engine("plain")
    await operator.until_at_rest(0, "plain")
    await person.delete(operator.caches.engines.resource, "plain")
    await operator.until_gone("plain")
    assert [request for request in operator.requests.seen if "poddisruptionbudgets" in request] == []


async def test_what_people_do_to_it_is_put_right(operator: Operator, person: Person) -> None:
    await make(person, **ONE)
    await operator.until_at_rest(0)
    edits: list[Manifest] = [
        {"spec": {"maxUnavailable": 2}},
        {"spec": {"maxUnavailable": None, "minAvailable": 1}},
        {"spec": {"selector": {"matchLabels": {"x": "y"}}}},
        {"spec": {"unhealthyPodEvictionPolicy": None}},
    ]
    before = await budget(person)
    for edit in edits:
        await person.patch(POD_DISRUPTION_BUDGETS, NAME, edit)
        await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: bool(found and found["spec"] == before["spec"]))
    assert (await budget(person))["metadata"]["uid"] == before["metadata"]["uid"]
    await person.delete(POD_DISRUPTION_BUDGETS, NAME)
    await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: found is not None)
    await operator.stays_at_rest(0)


async def test_it_comes_from_the_class_changes_with_it_and_goes_when_nobody_asks_for_it(
    operator: Operator, person: Person
) -> None:
    await person.make_class(podDisruptionBudget={"maxUnavailable": "25%"})
    await make(person, engineClassRef="big")
    await operator.until_at_rest(0)
    assert (await budget(person))["spec"]["maxUnavailable"] == "25%"
    await person.edit_class(podDisruptionBudget={"maxUnavailable": 2})
    await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: bool(found and found["spec"]["maxUnavailable"] == 2))
    await person.edit_engine(**ONE)
    await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: bool(found and found["spec"]["maxUnavailable"] == 1))
    await person.edit_engine(podDisruptionBudget={"maxUnavailable": None})
    await person.until_gone(POD_DISRUPTION_BUDGETS, NAME)
    await person.edit_engine(podDisruptionBudget=None)
    await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: bool(found and found["spec"]["maxUnavailable"] == 2))
    await person.edit_class(podDisruptionBudget=None)
    await person.until_gone(POD_DISRUPTION_BUDGETS, NAME)
    await operator.stays_at_rest(0)  # none of it took a new generation


async def test_somebody_elses_is_left_alone_and_keeps_nothing_from_being_done(
    operator: Operator, person: Person
) -> None:
    theirs = person.manifest(POD_DISRUPTION_BUDGETS, NAME, spec={"minAvailable": 1, "selector": {}})
    made = await person.client.create(theirs)
    await make(person, **ONE)
    stalled = await operator.until_reason("EnsureFailed", "Stalled")
    assert "eng-pdb was not made by this operator" in message(stalled, "Stalled")
    await operator.until_phase("stable")
    await person.edit_engine(replicas=3)
    rolled = await operator.until(lambda engine: engine.status.ready_replicas == 3)
    assert reason(rolled) in {"EngineReady", "Rolling"}
    assert (await budget(person))["spec"] == made["spec"]
    await person.edit_engine(podDisruptionBudget=None)
    await operator.stays_at_rest(1)
    assert (await budget(person))["metadata"]["uid"] == made["metadata"]["uid"]


async def test_a_refused_one_is_told_and_keeps_no_engine_from_starting(operator: Operator, person: Person) -> None:
    async with refused(person, POD_DISRUPTION_BUDGETS, "CREATE"):
        await make(person, **ONE)
        stalled = await operator.until(
            lambda engine: engine.status.phase == "stable" and reason(engine, "Stalled") == "EnsureFailed"
        )
        assert "not now" in condition(stalled, "Stalled").message
        assert reason(stalled) == "EngineReady"
        run = await operator.next_pass()
        assert run.error == ""
    async with asyncio.timeout(SECONDS):  # the API server takes a moment to forget a policy
        while await person.find(POD_DISRUPTION_BUDGETS, NAME) is None:
            await operator.next_pass()
    assert covered(await budget(person)) == ["0"]
    await operator.until(lambda engine: reason(engine, "Stalled") == "")


async def test_a_parked_engine_keeps_it_and_a_deleted_one_does_not(operator: Operator, person: Person) -> None:
    await make(person, **ONE)
    await operator.until_at_rest(0)
    await person.edit_engine(replicas=0)
    await operator.until_at_rest(1)
    assert covered(await budget(person)) == ["1"]
    await person.delete(operator.caches.engines.resource, "eng")
    await operator.until_gone()
    await person.until_gone(POD_DISRUPTION_BUDGETS, NAME)


async def test_a_new_process_leads_it_on_from_a_switch_that_was_cut_short(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator() as operator:
        await make(person, **ONE)
        await operator.until_at_rest(0)
    # As a crash leaves it between the two writes of a switch and the status.
    values = {"matchExpressions": [{"key": LABEL_GENERATION, "operator": "In", "values": ["0", "7"]}]}
    await person.patch(POD_DISRUPTION_BUDGETS, NAME, {"spec": {"selector": values}})
    async with start_operator() as operator:
        await person.until(POD_DISRUPTION_BUDGETS, NAME, lambda found: found is not None and covered(found) == ["0"])
        await operator.stays_at_rest(0)


async def _until_allowed(person: Person, disruptions: int) -> None:
    def is_so(found: Manifest | None) -> bool:
        status = (found or {}).get("status", {})
        return bool((status.get("expectedPods"), status.get("disruptionsAllowed")) == (2, disruptions))

    await person.until(POD_DISRUPTION_BUDGETS, NAME, is_so)


async def _evict(person: Person, pod: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": person.namespace}}
    path = f"/api/v1/namespaces/{person.namespace}/pods/{pod}/eviction"
    await person.kubectl("create", "--raw", path, "--filename", "-", stdin=msgspec.json.encode(body).decode())


def _has(seen: list[tuple[int, Manifest]], name: str) -> bool:
    return any(manifest["metadata"]["name"] == name for _, manifest in seen)


def _newest(seen: list[tuple[int, Manifest]], name: str) -> Manifest:
    return max((each for each in seen if each[1]["metadata"]["name"] == name), key=lambda each: each[0])[1]
