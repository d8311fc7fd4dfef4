"""Is any query lost when the operator, or the API server, dies in the middle of a rollout?"""

import asyncio

import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, PODS, SERVICES, STATEFULSETS
from tests.e2e.crash_points import CRASH_POINTS, Rollout
from tests.e2e.operator_pod import leading_operator
from tests.e2e.scenario import NEXT_IMAGE, Scenario


@pytest.mark.parametrize("crash_point", list(CRASH_POINTS))
async def test_given_a_rollout_when_the_operator_is_killed_then_the_next_one_finishes_it(
    scenario: Scenario, crash_point: str
) -> None:
    await scenario.make_resting_engine("rolling")
    operator = await leading_operator(scenario.environment, scenario.client)
    rollout = Rollout(scenario.informer, "rolling")
    async with scenario.load("rolling"):
        edited = await scenario.edit("rolling", template=NEXT_IMAGE)
        await scenario.until(lambda: CRASH_POINTS[crash_point](rollout), crash_point)
        await operator.kill()
        assert (await leading_operator(scenario.environment, scenario.client)).name != operator.name
        await scenario.at_rest("rolling", 2, since=edited)
        await _until_one_generation(scenario, "rolling", 1)


@pytest.mark.parametrize("crash_point", ["the-first-pod-is-there", "the-drain-has-begun"])
async def test_given_a_rollout_when_the_api_server_is_killed_then_it_goes_on_afterwards(
    scenario: Scenario, crash_point: str
) -> None:
    await scenario.make_resting_engine("severed")
    rollout = Rollout(scenario.informer, "severed")
    async with scenario.load("severed"):
        edited = await scenario.edit("severed", template=NEXT_IMAGE)
        await scenario.until(lambda: CRASH_POINTS[crash_point](rollout), crash_point)
        await asyncio.to_thread(scenario.environment.cluster.restart_apiserver)
        await scenario.at_rest("severed", 2, since=edited)
        await _until_one_generation(scenario, "severed", 1)


async def _until_one_generation(scenario: Scenario, engine: str, generation: int) -> None:
    def is_alone() -> bool:
        counts = [len(scenario.informer.all_of(kind, engine)) for kind in (STATEFULSETS, CONFIG_MAPS, SERVICES, PODS)]
        return counts == [1, 1, 2, 2] and bool(scenario.informer.get(STATEFULSETS, f"{engine}-g{generation}"))

    await scenario.until(is_alone, "nothing but the new generation to be left")
