"""An operator and a person who share a namespace of a real API server with simulated pods."""

from collections.abc import AsyncGenerator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from tests.api.instance.person import Person
from tests.api.instance.running import Operator, running_operator
from tests.support.clients import written_by


@pytest.fixture
async def person(crds: None, control_plane: ControlPlane, namespace: str) -> AsyncGenerator[Person]:  # noqa: ARG001 - for its effect
    async with KubeClient.from_credentials(load_credentials(str(control_plane.kubeconfig), {})) as client:
        yield Person(written_by(client, "somebody"), namespace)


@pytest.fixture
async def operator_door(control_plane: ControlPlane, namespace: str) -> AsyncGenerator[Person]:
    """Somebody who writes as the operator does."""
    async with KubeClient.from_credentials(load_credentials(str(control_plane.kubeconfig), {})) as client:
        yield Person(client, namespace)


@pytest.fixture
async def operator(person: Person, simulated_pods: SimulatedPods) -> AsyncGenerator[Operator]:
    kubeconfig = simulated_pods.control_plane.kubeconfig
    async with running_operator(kubeconfig, person.namespace) as running:
        yield running
