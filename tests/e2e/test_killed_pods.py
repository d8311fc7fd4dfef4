"""What do queries notice when a pod dies, of the operator, the engine, or anything between the two?"""

import asyncio
import time
from dataclasses import dataclass

import pytest

from firebolt_local.testing.load import Load
from firebolt_operator.api.names import (
    COMPONENT_GATEWAY,
    COMPONENT_METADATA,
    COMPONENT_POSTGRES,
    CONTAINER_ENGINE,
    CONTAINER_ENVOY,
    CONTAINER_METADATA,
    CONTAINER_WAKE_AGENT,
    LABEL_COMPONENT,
)
from firebolt_operator.api.resources import FIREBOLT_INSTANCES, PODS
from firebolt_operator.gateway.envoy.local_replies import EXPLANATION
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE
from tests.e2e.informer import is_ready
from tests.e2e.killing import kill, process_of
from tests.e2e.knocking import when_judged
from tests.e2e.operator_pod import leading_operator
from tests.e2e.scenario import Scenario

BEFORE_SECONDS = 2.0  # a gateway that meets an engine for the first time holds its queries for a moment
AFTERWARDS_SECONDS = 5.0
MOST_SECONDS_OF_TROUBLE = 15.0
BROKEN_OFF = "ClientPayloadError"


@dataclass(frozen=True, slots=True)
class Victim:
    component: str
    container: str


@pytest.mark.parametrize(
    "victim",
    [
        pytest.param(Victim(COMPONENT_POSTGRES, "postgresql"), id="postgres"),
        pytest.param(Victim(COMPONENT_METADATA, CONTAINER_METADATA), id="metadata"),
        pytest.param(Victim(COMPONENT_GATEWAY, CONTAINER_WAKE_AGENT), id="wake-agent"),
    ],
)
async def test_given_queries_when_a_component_beside_their_path_is_killed_then_none_is_lost(
    scenario: Scenario, victim: Victim
) -> None:
    await scenario.make_resting_engine("calm")
    async with scenario.load("calm"):
        pod = _pods(scenario, victim.component)[0]
        await _kill(scenario, pod, victim.container)
        await _until_restarted(scenario, pod, victim.container)
        await scenario.until(lambda: _instance_is_ready(scenario), "the instance to be ready again")
        await asyncio.sleep(AFTERWARDS_SECONDS)
    assert scenario.engine("calm").status.active_generation == 0


async def test_given_queries_when_the_operator_is_killed_then_none_is_lost_and_another_one_leads(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("alone")
    async with scenario.load("alone"):
        operator = await leading_operator(scenario.environment, scenario.client)
        await operator.kill()
        edited = await when_judged(lambda: scenario.edit("alone", replicas=1))
        await scenario.at_rest("alone", 1, since=edited)
        assert (await leading_operator(scenario.environment, scenario.client)).name != operator.name


@pytest.mark.parametrize("number", [0, 1])
async def test_given_queries_when_a_gateway_pod_is_deleted_then_none_is_lost(scenario: Scenario, number: int) -> None:
    await scenario.make_resting_engine("routed")
    pod = _pods(scenario, COMPONENT_GATEWAY)[number]
    async with scenario.load("routed"):
        await scenario.delete(scenario.ref(PODS, pod["metadata"]["name"]))
        await scenario.until(lambda: scenario.informer.get(PODS, pod["metadata"]["name"]) is None, "the pod to be gone")
        await scenario.until(lambda: len(_pods(scenario, COMPONENT_GATEWAY)) == 2, "two gateway pods to be ready")
        await asyncio.sleep(AFTERWARDS_SECONDS)


@pytest.mark.parametrize("number", [0, 1])
async def test_given_queries_when_a_gateway_pod_is_killed_then_they_soon_go_another_way(
    scenario: Scenario, number: int
) -> None:
    await scenario.make_resting_engine("shaken")
    pod = _pods(scenario, COMPONENT_GATEWAY)[number]
    async with scenario.load("shaken", may_fail=True) as load:
        killed_at = await _kill(scenario, pod, CONTAINER_ENVOY)
        await _until_restarted(scenario, pod, CONTAINER_ENVOY)
        await asyncio.sleep(AFTERWARDS_SECONDS)
    _assert_brief(load, killed_at)


async def test_given_queries_when_an_engine_pod_is_deleted_then_none_is_lost(scenario: Scenario) -> None:
    await scenario.make_resting_engine("halved")
    async with scenario.load("halved"):
        uid = _engine_pod(scenario, "halved-g0-1")["metadata"]["uid"]
        await scenario.delete(scenario.ref(PODS, "halved-g0-1"))
        await scenario.until(lambda: _is_another(scenario, "halved-g0-1", uid), "a new pod in its environment")
        await scenario.at_rest("halved", 2)
        await asyncio.sleep(AFTERWARDS_SECONDS)
    assert scenario.engine("halved").status.active_generation == 0


async def test_given_queries_when_an_engine_pod_is_killed_then_only_those_that_it_ran_are_in_doubt(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("struck")
    async with scenario.load("struck", may_fail=True) as load:
        pod = _engine_pod(scenario, "struck-g0-1")
        killed_at = await _kill(scenario, pod, CONTAINER_ENGINE)
        await _until_restarted(scenario, pod, CONTAINER_ENGINE)
        await scenario.at_rest("struck", 2)
        await asyncio.sleep(AFTERWARDS_SECONDS)
    _assert_brief(load, killed_at)
    problems = {each.problem for each in load.answers if not each.is_good}
    # An answer that has begun cannot become another one: who reads it sees that it breaks off.
    assert {each for each in problems if not each.startswith(BROKEN_OFF)} <= {f"HTTP 503: {EXPLANATION.strip()}"}


async def _kill(scenario: Scenario, pod: Manifest, container: str) -> float:
    """Answers when; not before queries flow."""
    await asyncio.sleep(BEFORE_SECONDS)
    record = await asyncio.to_thread(process_of, scenario.environment.cluster, pod, container)
    killed_at = time.monotonic()
    await asyncio.to_thread(kill, record)
    return killed_at


async def _until_restarted(scenario: Scenario, pod: Manifest, container: str) -> None:
    name, before = pod["metadata"]["name"], _restarts(pod, container)

    def is_back() -> bool:
        now = scenario.informer.get(PODS, name)
        return now is not None and is_ready(now) and _restarts(now, container) > before

    await scenario.until(is_back, f"{container} of {name} to be back")


def _restarts(pod: Manifest, container: str) -> int:
    statuses: list[Manifest] = pod["status"]["containerStatuses"]
    return sum(each["restartCount"] for each in statuses if each["name"] == container)


def _pods(scenario: Scenario, component: str) -> list[Manifest]:
    """The ready ones."""
    pods = scenario.informer.of_kind(PODS)
    mine = [pod for pod in pods if pod["metadata"].get("labels", {}).get(LABEL_COMPONENT) == component]
    return [pod for pod in mine if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]


def _engine_pod(scenario: Scenario, name: str) -> Manifest:
    found = scenario.informer.get(PODS, name)
    assert found is not None
    return found


def _is_another(scenario: Scenario, name: str, uid: str) -> bool:
    found = scenario.informer.get(PODS, name)
    return found is not None and found["metadata"]["uid"] != uid and is_ready(found)


def _instance_is_ready(scenario: Scenario) -> bool:
    found = scenario.informer.get(FIREBOLT_INSTANCES, INSTANCE)
    return found is not None and found["status"]["phase"] == "Ready"


def _assert_brief(load: Load, killed_at: float) -> None:
    failed = [each for each in load.answers if not each.is_good]
    late = [each for each in failed if each.due_at > killed_at + MOST_SECONDS_OF_TROUBLE]
    assert late == [], f"{len(late)} of {len(failed)} failures came long after the kill: {late[0].problem}"
