"""Does a query that takes longer than a minute survive a rollout of the gateway whose owner gave it two?"""

import asyncio

from firebolt_operator.api.names import COMPONENT_GATEWAY, LABEL_COMPONENT
from firebolt_operator.api.resources import FIREBOLT_INSTANCES, PODS
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE
from tests.e2e.informer import is_ready
from tests.e2e.scenario import Scenario

QUERY_SECONDS = 60  # beyond three failed liveness probes as well
LIMIT_SECONDS = 300.0


async def test_given_a_query_of_a_minute_when_the_gateway_rolls_then_it_is_answered_and_the_old_pods_leave(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("lasting")
    try:
        await _change(scenario, {"drainTimeout": "2m"})
        await scenario.until(lambda: _all_have_grace(scenario, 120), "pods with two minutes", seconds=LIMIT_SECONDS)
        old = {pod["metadata"]["name"] for pod in _gateways(scenario)}
        async with scenario.load("lasting"), asyncio.TaskGroup() as group:
            queries = [
                group.create_task(
                    scenario.ask("lasting", f"SELECT sleep({QUERY_SECONDS})"), name=f"long query {number}"
                )
                for number in range(8)  # so that every gateway pod has one
            ]
            await asyncio.sleep(2)
            await _change(scenario, {"template": {"metadata": {"annotations": {"rolled": "once"}}}})
            await scenario.until(lambda: _has_left(scenario, old), "the old pods to be gone", seconds=LIMIT_SECONDS)
        assert {query.result().problem for query in queries} == {""}
    finally:
        await _change(scenario, {"drainTimeout": "15s", "template": None})


async def _change(scenario: Scenario, gateway: Manifest) -> None:
    await scenario.client.merge_patch(scenario.ref(FIREBOLT_INSTANCES, INSTANCE), {"spec": {"gateway": gateway}})


def _gateways(scenario: Scenario) -> list[Manifest]:
    pods = scenario.informer.of_kind(PODS)
    return [pod for pod in pods if pod["metadata"].get("labels", {}).get(LABEL_COMPONENT) == COMPONENT_GATEWAY]


def _all_have_grace(scenario: Scenario, seconds: int) -> bool:
    pods = _gateways(scenario)
    graces = {pod["spec"]["terminationGracePeriodSeconds"] for pod in pods}
    return graces == {seconds} and all(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)


def _has_left(scenario: Scenario, old: set[str]) -> bool:
    names = {pod["metadata"]["name"] for pod in _gateways(scenario)}
    return bool(names) and not names & old
