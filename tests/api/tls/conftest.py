"""An operator, an administrator and somebody who plays cert-manager share a namespace of a real API server."""

from collections.abc import AsyncGenerator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.wiring.operate import KINDS
from tests.api.auth.running import Operator, running_operator
from tests.api.tls.people import Owner
from tests.support.cert_manager import CertManager, install_certificates, running_cert_manager
from tests.support.clients import written_by


@pytest.fixture(scope="session")
def certificates(control_plane: ControlPlane) -> None:
    """The shared control plane knows cert-manager's kind from here on."""
    install_certificates(control_plane.kubeconfig)


@pytest.fixture
async def owner(crds: None, control_plane: ControlPlane, namespace: str) -> AsyncGenerator[Owner]:  # noqa: ARG001 - for its effect
    async with KubeClient.from_credentials(load_credentials(str(control_plane.kubeconfig), {}), kinds=KINDS) as client:
        yield Owner(written_by(client, "somebody"), namespace)


@pytest.fixture
async def cert_manager(certificates: None, owner: Owner) -> AsyncGenerator[CertManager]:  # noqa: ARG001 - for its effect
    client = owner.client
    door = written_by(client, "cert-manager")
    async with running_cert_manager(door, owner.namespace) as played:
        yield played


@pytest.fixture
async def operator(
    certificates: None,  # noqa: ARG001 - for its effect
    owner: Owner,
    simulated_pods: SimulatedPods,
) -> AsyncGenerator[Operator]:
    async with running_operator(simulated_pods.control_plane.kubeconfig, owner.namespace) as running:
        yield running
