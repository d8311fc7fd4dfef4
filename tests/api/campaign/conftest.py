"""The shared control plane as a place for campaigns."""

from collections.abc import AsyncGenerator

import pytest

from firebolt_local.campaign.stories.arena import Arena, arena_on, cluster_of
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods


@pytest.fixture
async def arena(control_plane: ControlPlane, simulated_pods: SimulatedPods) -> AsyncGenerator[Arena]:
    del simulated_pods  # for its effect: pods become ready
    async with arena_on(cluster_of(control_plane)) as arena:
        yield arena
