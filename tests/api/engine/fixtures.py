"""An operator and a person who share a namespace of a real API server with simulated pods."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, running_operator
from tests.support.clients import written_by

StartOperator = Callable[..., AbstractAsyncContextManager[Operator]]


@pytest.fixture
async def person(crds: None, control_plane: ControlPlane, namespace: str) -> AsyncGenerator[Person]:  # noqa: ARG001 - for its effect
    async with KubeClient.from_credentials(load_credentials(str(control_plane.kubeconfig), {})) as client:
        door = written_by(client, "somebody")
        person = Person(door, namespace, control_plane.kubeconfig)
        yield person
        await person.leave()


@pytest.fixture
def start_operator(person: Person, simulated_pods: SimulatedPods) -> StartOperator:
    """To be entered with flags, `start_operator("--drain-settle=2s")`, as often as a test restarts the operator."""

    def start(*flags: str) -> AbstractAsyncContextManager[Operator]:
        return running_operator(simulated_pods.control_plane.kubeconfig, person.namespace, *flags)

    return start


@pytest.fixture
async def operator(start_operator: StartOperator) -> AsyncGenerator[Operator]:
    async with start_operator() as running:
        yield running
