"""An instance's operator may die at every single write: the next one finishes the work, and no data is lost over it."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.testing.ledger import INSTANCE_KINDS, a_ledger
from firebolt_operator.api.names import metadata_credentials_name, postgres_claim_name, postgres_name
from firebolt_operator.kube.client import KubeClient
from tests.api.crash.instance_lane import INSTANCE, InstanceLane
from tests.api.crash.lanes import in_a_namespace
from tests.api.crash.living import instance_controller_only
from tests.api.crash.strikes import Scenario, strike_at_every_write

LANES = 6
KEPT: Final = (
    ("Secret", metadata_credentials_name(INSTANCE)),
    ("PersistentVolumeClaim", postgres_claim_name(INSTANCE)),
    ("StatefulSet", postgres_name(INSTANCE)),
)
"""What holds the data, or the way to it."""
pytestmark = pytest.mark.slow


async def upgrade(lane: InstanceLane) -> None:
    await lane.upgrade(secrets.token_hex(4))


SCENARIOS = (
    Scenario[InstanceLane](
        name="provision",
        before=InstanceLane.bring_away,
        act=InstanceLane.make_instance,
        after=lambda _: InstanceLane.until_ready,
    ),
    Scenario[InstanceLane](
        name="upgrade",
        before=InstanceLane.bring_up,
        act=upgrade,
        after=lambda _: InstanceLane.until_ready,
    ),
    Scenario[InstanceLane](
        name="delete",
        before=InstanceLane.bring_up,
        act=InstanceLane.delete_instance,
        after=lambda _: InstanceLane.until_gone,
    ),
)


def judge(lane: InstanceLane) -> None:
    """Nothing that holds data was ever made a second time."""
    changes = lane.ledger.changes[lane.namespace]
    for kind, name in KEPT:
        seen = (each.after for each in changes if (each.kind, each.name) == (kind, name))
        made = {after["metadata"]["uid"] for after in seen if after is not None}
        assert len(made) <= 1, f"{kind} {name} was made {len(made)} times"


@pytest.fixture
async def lanes(ready_plane: ControlPlane, client: KubeClient) -> AsyncGenerator[list[InstanceLane]]:
    async with a_ledger(client, INSTANCE_KINDS) as ledger, AsyncExitStack() as stack:
        opened: list[InstanceLane] = []
        for _ in range(LANES):
            name = f"crash-{secrets.token_hex(4)}"
            lane = InstanceLane(name, ready_plane.kubeconfig, client, ledger, instance_controller_only)
            opened.append(await stack.enter_async_context(in_a_namespace(lane)))
            await lane.revive()
        yield opened


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_every_write_may_be_the_last(lanes: list[InstanceLane], scenario: Scenario[InstanceLane]) -> None:
    await strike_at_every_write(scenario, lanes, judge)
