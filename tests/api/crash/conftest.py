"""A control plane with our kinds and simulated pods, and somebody who watches."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials


@pytest.fixture(scope="session")
def ready_plane(control_plane: ControlPlane, crds: None, simulated_pods: SimulatedPods) -> ControlPlane:
    del crds, simulated_pods  # for their effects: our kinds are there, and pods become ready
    return control_plane


@pytest.fixture
async def client(ready_plane: ControlPlane) -> AsyncGenerator[KubeClient]:
    async with KubeClient.from_credentials(load_credentials(str(ready_plane.kubeconfig), {})) as client:
        yield client
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)
