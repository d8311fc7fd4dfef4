"""Is any query lost when the operator, or the API server, dies in the middle of a rollout?"""

import asyncio

import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, PODS, SERVICES, STATEFULSETS
from tests.e2e.moments import MOMENTS, Rollout
from tests.e2e.operator_pod import leading_operator
from tests.e2e.scene import NEXT_IMAGE, Scene


@pytest.mark.parametrize("moment", list(MOMENTS))
async def test_given_a_rollout_when_the_operator_is_killed_then_the_next_one_finishes_it(
    scene: Scene, moment: str
) -> None:
    await scene.make_resting_engine("rolling")
    operator = await leading_operator(scene.place, scene.client)
    rollout = Rollout(scene.sight, "rolling")
    async with scene.load("rolling"):
        edited = await scene.edit("rolling", template=NEXT_IMAGE)
        await scene.until(lambda: MOMENTS[moment](rollout), moment)
        await operator.kill()
        assert (await leading_operator(scene.place, scene.client)).name != operator.name
        await scene.at_rest("rolling", 2, since=edited)
        await _until_one_generation(scene, "rolling", 1)


@pytest.mark.parametrize("moment", ["the-first-pod-is-there", "the-drain-has-begun"])
async def test_given_a_rollout_when_the_api_server_is_killed_then_it_goes_on_afterwards(
    scene: Scene, moment: str
) -> None:
    await scene.make_resting_engine("severed")
    rollout = Rollout(scene.sight, "severed")
    async with scene.load("severed"):
        edited = await scene.edit("severed", template=NEXT_IMAGE)
        await scene.until(lambda: MOMENTS[moment](rollout), moment)
        await asyncio.to_thread(scene.place.cluster.restart_apiserver)
        await scene.at_rest("severed", 2, since=edited)
        await _until_one_generation(scene, "severed", 1)


async def _until_one_generation(scene: Scene, engine: str, generation: int) -> None:
    def is_alone() -> bool:
        counts = [len(scene.sight.all_of(kind, engine)) for kind in (STATEFULSETS, CONFIG_MAPS, SERVICES, PODS)]
        return counts == [1, 1, 2, 2] and bool(scene.sight.get(STATEFULSETS, f"{engine}-g{generation}"))

    await scene.until(is_alone, "nothing but the new generation to be left")
