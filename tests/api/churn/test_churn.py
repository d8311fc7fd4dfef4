"""Twenty engines that people will not leave alone: all come to rest as asked last, and leave nothing behind."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.testing.inventory import differences
from firebolt_local.testing.ledger import Ledger, World, a_ledger
from firebolt_local.testing.serving import gaps
from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.churn.edits import CLASSES, EDITS, new_config, new_image, unlike
from tests.api.churn.everything import everything, namespaced_kinds
from tests.api.crash.engine_lane import INSTANCE
from tests.api.crash.lanes import a_manifest
from tests.api.crash.leftovers import AtRest
from tests.api.crash.living import a_life, whole_operator

SEED: Final = 7
ENGINES: Final = 20
EDITS_EACH: Final = 10
PHASES: Final = ("creating", "switching", "draining", "cleaning", "stable")
RESTING: Final = frozenset({"stable", "stopped"})
PATIENCE_SECONDS: Final = 6.0  # for a phase that may never come
SLOW_SCRAPE_SECONDS: Final = 0.2  # so that a generation drains for long enough to be edited meanwhile, now and then
DRAINED_LONG: Final = "eng-busy"
"""Whoever else is edited while it drains is so by chance; this one is, on any machine."""
SECONDS: Final = 120.0

pytestmark = pytest.mark.slow


@dataclass(slots=True)
class Fleet:
    client: KubeClient
    ledger: Ledger
    namespace: str
    met: Counter[str] = field(default_factory=Counter[str])  # in which phases edits arrived

    async def make(self, resource: Resource, name: str, **spec: object) -> None:
        await self.client.create(a_manifest(resource, self.namespace, name, **spec))

    async def remove(self, resource: Resource, name: str) -> None:
        ref = Ref(resource, self.namespace, name)
        found = await self.client.get(ref)
        assert found is not None
        await self.client.delete(ref, uid=found["metadata"]["uid"])

    async def live_of(self, name: str, rng: random.Random) -> None:
        """One engine: made, then edited again and again in the middle of whatever it is doing."""
        await self.make(FIREBOLT_ENGINES, name, instanceRef=INSTANCE, replicas=1 + rng.randrange(3))
        for _ in range(EDITS_EACH):
            await self._wait_for(name, rng.choice(PHASES))
            await self._edit(name, rng.choice(EDITS)(rng))

    async def edit_while_draining(self, name: str, rng: random.Random, scrape: ScrapeControl) -> None:
        """Its first pod runs a query for as long as it takes somebody to edit the engine twice."""
        await self.make(FIREBOLT_ENGINES, name, instanceRef=INSTANCE, replicas=1)
        await self._until(name, "stable")
        pod = f"{names.statefulset_name(name, 0)}-0"
        await asyncio.to_thread(scrape.set, self.namespace, pod, Behaviour(running=1))
        for expected, edit in (("stable", new_image), ("draining", new_config)):
            await self._until(name, expected)
            await self._edit(name, edit(rng))
        await asyncio.to_thread(scrape.set, self.namespace, pod, Behaviour())

    async def _until(self, name: str, phase: str) -> None:
        def problems(world: World) -> list[str]:
            current = world.get(("FireboltEngine", name), {}).get("status", {}).get("phase")
            return [] if current == phase else [f"{name} is {current}, not {phase}"]

        await self.ledger.until(self.namespace, problems)

    async def _edit(self, name: str, patch: Manifest) -> None:
        edited = await self.client.merge_patch(Ref(FIREBOLT_ENGINES, self.namespace, name), patch)
        self.met[edited.get("status", {}).get("phase", "")] += 1

    async def _wait_for(self, name: str, phase: str) -> None:
        def problems(world: World) -> list[str]:
            current = world.get(("FireboltEngine", name), {}).get("status", {}).get("phase")
            return [] if current in {phase, *RESTING} else [f"{name} is not {phase}"]

        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.ledger.until(self.namespace, problems)
        except TimeoutError:
            return

    async def until_ready(self, instance: str) -> None:
        ref = Ref(FIREBOLT_INSTANCES, self.namespace, instance)
        async with asyncio.timeout(SECONDS):
            while ((await self.client.get(ref)) or {}).get("status", {}).get("phase") != "Ready":  # noqa: ASYNC110 - once
                await asyncio.sleep(0.1)

    async def until_at_rest(self, engine: str) -> None:
        await self.ledger.until(self.namespace, lambda world: unrest(world, engine))

    async def until_only_there(self, kinds: list[Resource], wanted: set[str]) -> None:
        """Garbage is collected when Kubernetes finds the time."""
        odd: set[str] = set()
        try:
            async with asyncio.timeout(SECONDS):
                while odd := wanted ^ await everything(self.client, kinds, self.namespace):  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
        except TimeoutError as err:
            raise AssertionError(f"left over or missing: {sorted(odd)}") from err


def unrest(world: World, engine: str) -> list[str]:
    """Why the engine is not at rest, on one generation alone and as asked for last."""
    found = world.get(("FireboltEngine", engine))
    if found is None:
        return [f"{engine} is missing"]
    generation = found.get("status", {}).get("currentGeneration", 0)
    wanted = AtRest(name=engine, generation=generation, replicas=found["spec"]["replicas"])
    return wanted.problems(world) or differences(_children(world, engine), wanted.objects()) or _unlike(world, found)


def _children(world: World, engine: str) -> list[Manifest]:
    labelled = (each for each in world.values() if each["metadata"].get("labels", {}).get(names.LABEL_ENGINE) == engine)
    return [each for each in labelled if each["kind"] != FIREBOLT_ENGINES.kind]


def _unlike(world: World, engine: Manifest) -> list[str]:
    name, generation = engine["metadata"]["name"], engine["status"]["activeGeneration"]
    statefulset = world["StatefulSet", names.statefulset_name(name, generation)]
    config_map = world["ConfigMap", names.config_map_name(name, generation)]
    return unlike(engine, statefulset, config_map)


@pytest.fixture
async def fleet(
    control_plane: ControlPlane, crds: None, simulated_pods: SimulatedPods, namespace: str
) -> AsyncGenerator[Fleet]:
    del crds, simulated_pods  # for their effects: our kinds are there, and pods become ready
    credentials = load_credentials(str(control_plane.kubeconfig), {})
    async with KubeClient.from_credentials(credentials) as client, a_ledger(client) as ledger:
        yield Fleet(client, ledger, namespace)
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


async def test_engines_under_edits_come_to_rest_and_go_without_a_trace(
    fleet: Fleet, control_plane: ControlPlane, scrape: ScrapeControl
) -> None:
    scrape.set_default(Behaviour(delay_seconds=SLOW_SCRAPE_SECONDS))
    kinds = namespaced_kinds(control_plane.http)
    before = await everything(fleet.client, kinds, fleet.namespace)
    engines = [f"eng-{number}" for number in range(ENGINES)]
    began_at = time.monotonic()
    async with a_life(control_plane.kubeconfig, fleet.namespace, whole_operator) as operator:
        await fleet.make(FIREBOLT_INSTANCES, INSTANCE, metadata={}, gateway={})
        await fleet.until_ready(INSTANCE)
        for name in CLASSES:
            await fleet.make(FIREBOLT_ENGINE_CLASSES, name, template={"metadata": {"labels": {"class": name}}})
        async with asyncio.TaskGroup() as group:
            for number, name in enumerate(engines):
                group.create_task(fleet.live_of(name, random.Random(SEED + number)), name=name)
            group.create_task(fleet.edit_while_draining(DRAINED_LONG, random.Random(SEED), scrape), name=DRAINED_LONG)
        engines.append(DRAINED_LONG)
        for name in engines:
            await fleet.until_at_rest(name)
        print(
            f"\nat rest after {time.monotonic() - began_at:.1f} s, {len(operator.writes)} writes, edits in {fleet.met}"
        )
        for name in engines:
            assert gaps(fleet.ledger.changes[fleet.namespace], name) == []
            await fleet.remove(FIREBOLT_ENGINES, name)
        for name in CLASSES:
            await fleet.remove(FIREBOLT_ENGINE_CLASSES, name)
        await fleet.remove(FIREBOLT_INSTANCES, INSTANCE)
        await fleet.until_only_there(kinds, before)
    assert set(fleet.met) >= {"creating", "draining"}
