"""Is an idle engine parked, and does the next query find it again?"""

import asyncio

import pytest

from firebolt_operator.api.names import EngineReason
from firebolt_operator.api.resources import PODS
from kubectl_firebolt.picture.answers import Answer
from tests.e2e.scenario import Scenario

pytestmark = pytest.mark.quick

PARKING = {"enabled": True, "activeReplicas": 2, "idleReplicas": 0, "idleTimeout": "10s", "pollInterval": "2s"}
AT_ONCE = 20
SEEN = "SELECT sleep(0.5)"  # activity is sampled: some of these run at any moment


async def test_given_an_idle_engine_when_parked_then_queries_wake_it_and_all_are_answered(scenario: Scenario) -> None:
    await scenario.make_resting_engine("idle", replicas=2, autoStop=PARKING)
    async with scenario.load("idle", sql=SEEN):
        await asyncio.sleep(15)  # longer than the idle timeout: an engine in use is not idle
        assert scenario.informer.phases_of("idle")[-1] == "stable"
    await scenario.at_rest("idle", 0)
    assert scenario.ready("idle").reason == EngineReason.STOPPED
    await scenario.until(lambda: not scenario.informer.all_of(PODS, "idle"), "the pods to be gone")
    answers = await _ask_at_once(scenario, "idle")
    assert [answer.problem for answer in answers if not answer.is_good] == []
    await scenario.at_rest("idle", 2)
    async with scenario.load("idle"):
        await asyncio.sleep(5)


async def _ask_at_once(scenario: Scenario, engine: str) -> list[Answer]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(scenario.ask(engine), name=f"query {number}") for number in range(AT_ONCE)]
    return [task.result() for task in tasks]
