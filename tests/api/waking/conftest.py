"""An operator, a person and a gateway in one namespace, with pods that can be reached by their addresses."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.api.engine.fixtures import operator, person, start_operator
from tests.api.engine.person import Person
from tests.api.wake.place import Place
from tests.api.waking.gateway import Gateway, running_gateway

__all__ = ["operator", "person", "start_operator"]

StartGateway = Callable[..., AbstractAsyncContextManager[Gateway]]


@pytest.fixture
async def place(simulated_pods: SimulatedPods, person: Person, tmp_path: Path) -> Place:
    """With an instance that is ready, and the account of its gateway."""
    await person.make_instance()
    found = Place(simulated_pods.control_plane, person.client, person.namespace, tmp_path)
    await found.make_gateway_account()
    return found


@pytest.fixture
def start_gateway(place: Place, pod_network: PodNetwork) -> StartGateway:
    """To be entered with the agent's flags: `start_gateway("--fallback-hold-cap=5")`."""
    return partial(running_gateway, place, pod_network)


@pytest.fixture
async def gateway(start_gateway: StartGateway) -> AsyncGenerator[Gateway]:
    async with start_gateway() as running:
        yield running
