"""The person of the engine tests, and a cluster that nobody else has to live with afterwards."""

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.api.engine.fixtures import person
from tests.api.hostile.arena import Arena, an_arena

__all__ = ["person"]

VOLUMES = 200  # every instance takes one, the hostile ones too


@pytest.fixture
async def arena(
    fresh_control_plane: Callable[..., ControlPlane], built_programs: dict[str, Path]
) -> AsyncGenerator[Arena]:
    plane = fresh_control_plane(simulated_pods=True, benchmark_limits=True)
    pods = SimulatedPods(plane, built_programs).start()
    pods.add_volumes(VOLUMES)
    async with an_arena(plane, pods.scrape) as arena:
        yield arena
