"""Doors to the shared control plane, and the few objects the contract is tried on."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials


def a_door(kubeconfig: Path) -> KubeClient:
    return KubeClient.from_credentials(load_credentials(str(kubeconfig), {}))


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncGenerator[KubeClient]:
    async with a_door(control_plane.kubeconfig) as door:
        yield door
