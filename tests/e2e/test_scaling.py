"""Is any query lost while an engine grows and shrinks?"""

import pytest

from firebolt_operator.api.resources import PODS, STATEFULSETS
from tests.e2e.scenario import Scenario

pytestmark = pytest.mark.quick


async def test_given_queries_when_an_engine_scales_2_4_1_then_none_is_lost(scenario: Scenario) -> None:
    await scenario.make_resting_engine("sized", replicas=2)
    async with scenario.load("sized"):
        for replicas in (4, 1):
            edited = await scenario.edit("sized", replicas=replicas)
            engine = await scenario.at_rest("sized", replicas, since=edited)
            pods = scenario.informer.all_of(PODS, "sized", engine.status.active_generation)
            assert len(pods) == replicas
    await scenario.until(lambda: _generations(scenario, "sized") == ["sized-g2"], "the old generations to be gone")
    assert scenario.informer.phases_of("sized").count("draining") == 2


def _generations(scenario: Scenario, engine: str) -> list[str]:
    return [each["metadata"]["name"] for each in scenario.informer.all_of(STATEFULSETS, engine)]
