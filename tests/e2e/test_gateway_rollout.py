"""Does a query that takes longer than a minute survive a rollout of the gateway whose owner gave it two?"""

import asyncio

from firebolt_operator.api.names import COMPONENT_GATEWAY, LABEL_COMPONENT
from firebolt_operator.api.resources import FIREBOLT_INSTANCES, PODS
from firebolt_operator.refs import Manifest
from tests.e2e.place import INSTANCE
from tests.e2e.scene import Scene
from tests.e2e.sight import is_ready

QUERY_SECONDS = 60  # beyond three failed liveness probes as well
LIMIT_SECONDS = 300.0


async def test_given_a_query_of_a_minute_when_the_gateway_rolls_then_it_is_answered_and_the_old_pods_leave(
    scene: Scene,
) -> None:
    await scene.make_resting_engine("lasting")
    try:
        await _change(scene, {"drainTimeout": "2m"})
        await scene.until(lambda: _all_have_grace(scene, 120), "pods with two minutes", seconds=LIMIT_SECONDS)
        old = {pod["metadata"]["name"] for pod in _gateways(scene)}
        async with scene.load("lasting"), asyncio.TaskGroup() as group:
            queries = [
                group.create_task(scene.ask("lasting", f"SELECT sleep({QUERY_SECONDS})"), name=f"long query {number}")
                for number in range(8)  # so that every gateway pod has one
            ]
            await asyncio.sleep(2)
            await _change(scene, {"template": {"metadata": {"annotations": {"rolled": "once"}}}})
            await scene.until(lambda: _has_left(scene, old), "the old pods to be gone", seconds=LIMIT_SECONDS)
        assert {query.result().problem for query in queries} == {""}
    finally:
        await _change(scene, {"drainTimeout": "15s", "template": None})


async def _change(scene: Scene, gateway: Manifest) -> None:
    await scene.client.merge_patch(scene.ref(FIREBOLT_INSTANCES, INSTANCE), {"spec": {"gateway": gateway}})


def _gateways(scene: Scene) -> list[Manifest]:
    pods = scene.sight.of_kind(PODS)
    return [pod for pod in pods if pod["metadata"].get("labels", {}).get(LABEL_COMPONENT) == COMPONENT_GATEWAY]


def _all_have_grace(scene: Scene, seconds: int) -> bool:
    pods = _gateways(scene)
    graces = {pod["spec"]["terminationGracePeriodSeconds"] for pod in pods}
    return graces == {seconds} and all(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in pods)


def _has_left(scene: Scene, old: set[str]) -> bool:
    names = {pod["metadata"]["name"] for pod in _gateways(scene)}
    return bool(names) and not names & old
