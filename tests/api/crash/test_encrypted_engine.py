"""The same with TLS: for every write of a creation, of turning it on and off, of a renewal and of a deletion."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from functools import partial

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.testing.ledger import a_ledger
from firebolt_local.testing.serving import gaps
from firebolt_operator.kube.client import KubeClient
from tests.api.crash.encrypted_lane import ENCRYPTED_KINDS, EncryptedLane
from tests.api.crash.engine_lane import ENGINE
from tests.api.crash.lanes import in_a_namespace
from tests.api.crash.living import engine_controller_only
from tests.api.crash.strikes import Scenario, Step, strike_at_every_write
from tests.support.cert_manager import install_certificates, running_cert_manager
from tests.support.clients import written_by

LANES = 6
pytestmark = pytest.mark.slow


def at_rest(lane: EncryptedLane, replicas: int) -> Step[EncryptedLane]:
    """On the next generation: nothing that happens on the way may cost another one."""
    generation = lane.generation + 1
    return lambda lane: lane.until_at_rest(generation=generation, replicas=replicas)


async def encrypted(lane: EncryptedLane, replicas: int | None) -> None:
    await lane.turn(is_on=True)
    await lane.until_turned(is_on=True)
    await lane.bring_to(replicas)


async def in_the_clear(lane: EncryptedLane) -> None:
    await lane.turn(is_on=False)
    await lane.until_turned(is_on=False)
    await lane.bring_to(2)


SCENARIOS = (
    Scenario[EncryptedLane](
        name="create",
        before=partial(encrypted, replicas=None),
        act=EncryptedLane.make_engine,
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EncryptedLane](
        name="turn on",
        before=in_the_clear,
        act=lambda lane: lane.turn(is_on=True),
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EncryptedLane](
        name="turn off",
        before=partial(encrypted, replicas=2),
        act=lambda lane: lane.turn(is_on=False),
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EncryptedLane](
        name="renew",
        before=partial(encrypted, replicas=2),
        act=EncryptedLane.renew,
        after=partial(at_rest, replicas=2),
    ),
    Scenario[EncryptedLane](
        name="delete",
        before=partial(encrypted, replicas=2),
        act=EncryptedLane.delete_engine,
        after=lambda _: EncryptedLane.until_gone,
    ),
)


def judge(lane: EncryptedLane) -> None:
    assert gaps(lane.ledger.changes[lane.namespace], ENGINE) == []


@pytest.fixture
async def lanes(ready_plane: ControlPlane, client: KubeClient) -> AsyncGenerator[list[EncryptedLane]]:
    install_certificates(ready_plane.kubeconfig)
    issuer = written_by(client, "cert-manager")
    async with a_ledger(client, ENCRYPTED_KINDS) as ledger, AsyncExitStack() as stack:
        opened: list[EncryptedLane] = []
        for _ in range(LANES):
            name = f"crash-{secrets.token_hex(4)}"
            lane = EncryptedLane(name, ready_plane.kubeconfig, client, ledger, engine_controller_only)
            opened.append(await stack.enter_async_context(in_a_namespace(lane)))
            await stack.enter_async_context(running_cert_manager(issuer, name))
            await lane.furnish()
            await lane.revive()
        yield opened


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_every_write_may_be_the_last(lanes: list[EncryptedLane], scenario: Scenario[EncryptedLane]) -> None:
    await strike_at_every_write(scenario, lanes, judge)
