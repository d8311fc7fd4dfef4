"""Our kinds and the admission policy on the shared control plane."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.wake.limits import POLICY_FILE
from tests.api.wake.place import Place, a_door
from tests.support.kubectl import kubectl


@pytest.fixture(scope="session")
def policy(crds: None, control_plane: ControlPlane) -> None:  # noqa: ARG001 - for its effect
    kubectl(control_plane.kubeconfig, ["apply", "-f", str(POLICY_FILE)])


@pytest.fixture
async def place(crds: None, control_plane: ControlPlane, namespace: str, tmp_path: Path) -> AsyncIterator[Place]:  # noqa: ARG001 - for its effect
    async with a_door(control_plane.kubeconfig) as client:
        yield Place(control_plane, client, namespace, tmp_path)
