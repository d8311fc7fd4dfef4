"""An engine's operator may die at every single write: the next one finishes the work, and queries notice nothing.

For every k of a creation, a rollout, a stop and a deletion the process ends at its k-th write, once with the answer and
once without; and once it only loses the answer and goes on itself.
"""

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from functools import partial

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.testing.ledger import a_ledger
from firebolt_local.testing.serving import gaps
from firebolt_operator.kube.client import KubeClient
from tests.api.crash.engine_lane import ENGINE, EngineLane
from tests.api.crash.lanes import in_a_namespace
from tests.api.crash.living import engine_controller_only
from tests.api.crash.strikes import Scenario, Step, strike_at_every_write

LANES = 6
pytestmark = pytest.mark.slow


async def change_image(lane: EngineLane) -> None:
    image = f"engine:{secrets.token_hex(4)}"
    await lane.edit_engine(template={"spec": {"containers": [{"name": "engine", "image": image}]}})


def at_rest(lane: EngineLane, replicas: int) -> Step[EngineLane]:
    """On the next generation: nothing that happens on the way may cost another one."""
    generation = lane.generation + 1
    return lambda lane: lane.until_at_rest(generation=generation, replicas=replicas)


SCENARIOS = (
    Scenario[EngineLane](
        name="create",
        before=lambda lane: lane.bring_to(None),
        act=EngineLane.make_engine,
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EngineLane](
        name="rollout",
        before=lambda lane: lane.bring_to(2),
        act=change_image,
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EngineLane](
        name="stop",
        before=lambda lane: lane.bring_to(2),
        act=lambda lane: lane.edit_engine(replicas=0),
        after=partial(at_rest, replicas=0),
    ),
    Scenario[EngineLane](
        name="delete",
        before=lambda lane: lane.bring_to(2),
        act=EngineLane.delete_engine,
        after=lambda _: EngineLane.until_gone,
    ),
)


def judge(lane: EngineLane) -> None:
    assert gaps(lane.ledger.changes[lane.namespace], ENGINE) == []


@pytest.fixture
async def lanes(ready_plane: ControlPlane, client: KubeClient) -> AsyncGenerator[list[EngineLane]]:
    async with a_ledger(client) as ledger, AsyncExitStack() as stack:
        opened: list[EngineLane] = []
        for _ in range(LANES):
            name = f"crash-{secrets.token_hex(4)}"
            lane = EngineLane(name, ready_plane.kubeconfig, client, ledger, engine_controller_only)
            opened.append(await stack.enter_async_context(in_a_namespace(lane)))
            await lane.furnish()
            await lane.revive()
        yield opened


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_every_write_may_be_the_last(lanes: list[EngineLane], scenario: Scenario[EngineLane]) -> None:
    await strike_at_every_write(scenario, lanes, judge)
