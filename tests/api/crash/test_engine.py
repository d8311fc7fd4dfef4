"""An engine's operator may die at every single write: the next one finishes the work, and queries notice nothing.

For every k of a creation, a rollout, a stop and a deletion the process ends at its k-th write, once with the answer and
once without; and once it only loses the answer and goes on itself.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

import pytest

from firebolt_local.control_plane import ControlPlane
from firebolt_local.simulated_pods import SimulatedPods
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from tests.api.crash.lanes import ENGINE, Case, Lane, a_lane, work_off
from tests.api.crash.ledger import SECONDS, a_ledger
from tests.api.crash.mortal import Ending
from tests.api.crash.serving import gaps
from tests.support.crds import install_crds

LANES = 6
pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    name: str
    before: int | None  # replicas with which the engine rests at first; None: there is no engine
    act: Callable[[Lane], Awaitable[None]]
    after: int | None


async def change_image(lane: Lane) -> None:
    image = f"engine:{secrets.token_hex(4)}"
    await lane.edit(template={"spec": {"containers": [{"name": "engine", "image": image}]}})


SCENARIOS = (
    Scenario(name="create", before=None, act=Lane.create, after=2),
    Scenario(name="rollout", before=2, act=change_image, after=2),
    Scenario(name="stop", before=2, act=lambda lane: lane.edit(replicas=0), after=0),
    Scenario(name="delete", before=2, act=Lane.delete, after=None),
)


@dataclass(slots=True)
class Run:
    """One scenario on one lane."""

    lane: Lane
    scenario: Scenario

    async def cleanly(self) -> list[str]:
        """What is written when nobody dies."""
        generation = await self._begin(0, Ending.SURVIVED)
        await self._finish(generation)
        return list(self.lane.operator.writes)

    async def struck_at(self, fatal: int, ending: Ending) -> None:
        lane, dying = self.lane, self.lane.operator
        try:
            generation = await self._begin(fatal, ending)
            await asyncio.wait_for(dying.struck.wait(), SECONDS)
            if ending is not Ending.SURVIVED:
                await lane.revive()
            await self._finish(generation)
            assert gaps(lane.ledger.changes[lane.namespace], ENGINE) == []
        except Exception as err:
            err.add_note(f"{self.scenario.name}, {ending} write {fatal}: {dying.writes}")
            raise

    async def _begin(self, fatal: int, ending: Ending) -> int:
        """The generation that the scenario ends with: nothing that happens on the way may cost another one."""
        lane = self.lane
        await lane.bring_to(self.scenario.before)
        lane.ledger.forget(lane.namespace)
        lane.operator.arm(fatal, ending)
        generation = lane.generation + 1
        await self.scenario.act(lane)
        return generation

    async def _finish(self, generation: int) -> None:
        if self.scenario.after is None:
            await self.lane.until_gone()
        else:
            await self.lane.until_at_rest(generation=generation, replicas=self.scenario.after)


async def strike(scenario: Scenario, fatal: int, ending: Ending, lane: Lane) -> None:
    await Run(lane, scenario).struck_at(fatal, ending)


@pytest.fixture(scope="session")
def ready_plane(control_plane: ControlPlane, simulated_pods: SimulatedPods) -> ControlPlane:
    del simulated_pods  # for its effect: pods become ready
    install_crds(control_plane.kubeconfig)
    return control_plane


@pytest.fixture
async def lanes(ready_plane: ControlPlane) -> AsyncGenerator[list[Lane]]:
    kubeconfig = ready_plane.kubeconfig
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(KubeClient.from_credentials(load_credentials(str(kubeconfig), {})))
        ledger = await stack.enter_async_context(a_ledger(client))
        names = [f"crash-{secrets.token_hex(4)}" for _ in range(LANES)]
        yield [await stack.enter_async_context(a_lane(kubeconfig, client, ledger, name)) for name in names]
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_every_write_may_be_the_last(lanes: list[Lane], scenario: Scenario) -> None:
    writes = await Run(lanes[0], scenario).cleanly()
    print(f"\n{scenario.name}: {len(writes)} writes", *writes, sep="\n  ")
    cases: list[Case] = [
        partial(strike, scenario, fatal, ending) for fatal in range(1, len(writes) + 1) for ending in Ending
    ]
    began_at, count = time.monotonic(), len(cases)
    async with asyncio.TaskGroup() as group:
        for lane in lanes:
            group.create_task(work_off(lane, cases), name=lane.namespace)
    print(f"{scenario.name}: {count} cases in {time.monotonic() - began_at:.1f} s")
