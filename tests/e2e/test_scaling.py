"""Is any query lost while an engine grows and shrinks?"""

import pytest

from firebolt_operator.api.resources import PODS, STATEFULSETS
from tests.e2e.scene import Scene

pytestmark = pytest.mark.quick


async def test_given_queries_when_an_engine_scales_2_4_1_then_none_is_lost(scene: Scene) -> None:
    await scene.make_resting_engine("sized", replicas=2)
    async with scene.load("sized"):
        for replicas in (4, 1):
            edited = await scene.edit("sized", replicas=replicas)
            engine = await scene.at_rest("sized", replicas, since=edited)
            pods = scene.sight.all_of(PODS, "sized", engine.status.active_generation)
            assert len(pods) == replicas
    await scene.until(lambda: _generations(scene, "sized") == ["sized-g2"], "the old generations to be gone")
    assert scene.sight.phases_of("sized").count("draining") == 2


def _generations(scene: Scene, engine: str) -> list[str]:
    return [each["metadata"]["name"] for each in scene.sight.all_of(STATEFULSETS, engine)]
