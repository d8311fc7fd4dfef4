"""Namespaces in which cases run one after the other: an engine, whoever operates it now, and somebody who edits."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES, SERVICE_ACCOUNTS
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.crash.ledger import CHILD_KINDS, SECONDS, Ledger, World
from tests.api.crash.leftovers import AtRest, differences
from tests.api.crash.living import a_life, engine_controller_only
from tests.api.crash.mortal import MortalTransport

ENGINE: Final = "eng"
INSTANCE: Final = "inst"
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


@dataclass(slots=True)
class Lane:
    namespace: str
    kubeconfig: Path
    client: KubeClient  # of somebody, not of the operator
    ledger: Ledger
    operator: MortalTransport = field(init=False)
    _life: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def revive(self) -> None:
        """Whoever operates here is gone; somebody new begins."""
        await self._life.aclose()
        self.operator = await self._life.enter_async_context(
            a_life(self.kubeconfig, self.namespace, engine_controller_only)
        )

    async def close(self) -> None:
        await self._life.aclose()

    @property
    def ref(self) -> Ref:
        return Ref(FIREBOLT_ENGINES, self.namespace, ENGINE)

    @property
    def generation(self) -> int:
        """The newest of the engine; -1 without one."""
        found = self.ledger.worlds[self.namespace].get(("FireboltEngine", ENGINE))
        return -1 if found is None else parse_engine(found).status.current_generation

    async def create(self) -> None:
        await self.client.create(a_manifest(FIREBOLT_ENGINES, self.namespace, ENGINE, instanceRef=INSTANCE, replicas=2))

    async def edit(self, **spec: object) -> None:
        await self.client.merge_patch(self.ref, {"spec": spec})

    async def delete(self) -> None:
        found = await self.client.get(self.ref)
        assert found is not None
        await self.client.delete(self.ref, uid=found["metadata"]["uid"])

    async def bring_to(self, replicas: int | None) -> None:
        """To rest with so many replicas, or away."""
        is_there = ("FireboltEngine", ENGINE) in self.ledger.worlds[self.namespace]
        if replicas is None:
            if is_there:
                await self.delete()
            await self.until_gone()
            return
        if is_there:
            await self.edit(replicas=replicas)
        else:
            await self.create()
        await self.ledger.until(self.namespace, lambda world: self._unrest(world, replicas))

    def _unrest(self, world: World, replicas: int) -> list[str]:
        return _unrest(world, AtRest(name=ENGINE, generation=self.generation, replicas=replicas))

    async def until_at_rest(self, *, generation: int, replicas: int) -> None:
        wanted = AtRest(name=ENGINE, generation=generation, replicas=replicas)
        await self.ledger.until(self.namespace, lambda world: _unrest(world, wanted))
        await self._check_live(wanted.objects())

    async def until_gone(self) -> None:
        nothing = Counter[str]()
        await self.ledger.until(
            self.namespace,
            lambda world: ["the engine is there"] if ("FireboltEngine", ENGINE) in world else _left(world, nothing),
        )
        await self._check_live(nothing)

    async def _check_live(self, wanted: Counter[str]) -> None:
        """Every kind once more from the server itself."""
        found: list[Manifest] = []
        for resource in CHILD_KINDS:
            found += await self.client.list(Scope(resource=resource, namespace=self.namespace))
        assert differences(found, wanted) == []


def _unrest(world: World, wanted: AtRest) -> list[str]:
    return wanted.problems(world) or _left(world, wanted.objects())


def _left(world: World, wanted: Counter[str]) -> list[str]:
    return differences((manifest for (kind, _), manifest in world.items() if kind != "FireboltEngine"), wanted)


def a_manifest(resource: Resource, namespace: str, name: str, **spec: object) -> Manifest:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


@asynccontextmanager
async def a_lane(kubeconfig: Path, client: KubeClient, ledger: Ledger, name: str) -> AsyncGenerator[Lane]:
    namespace: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    await client.create(namespace)
    lane = Lane(name, kubeconfig, client, ledger)
    try:
        await prepare(client, name)
        await lane.revive()
        yield lane
    finally:
        await lane.close()
        stored = await client.get(Ref(NAMESPACES, "", name))
        assert stored is not None
        await client.delete(Ref(NAMESPACES, "", name), uid=stored["metadata"]["uid"])


async def prepare(client: KubeClient, namespace: str) -> None:
    """An instance that is ready as far as its engines can tell; nobody works on it."""
    account = Ref(SERVICE_ACCOUNTS, namespace, "default")
    async with asyncio.timeout(SECONDS):
        while await client.get(account) is None:  # noqa: ASYNC110 - a moment, once
            await asyncio.sleep(0.05)
    instance = a_manifest(FIREBOLT_INSTANCES, namespace, INSTANCE, id="01TEST", metadata={}, gateway={})
    status = {"phase": "Ready", "metadataEndpoint": f"{INSTANCE}-metadata.{namespace}.svc.cluster.local:7000"}
    await client.create(instance)
    await client.merge_patch(Ref(FIREBOLT_INSTANCES, namespace, INSTANCE), {"status": status}, subresource="status")


Case = Callable[[Lane], Awaitable[None]]


async def work_off(lane: Lane, cases: "list[Case]") -> None:
    """Lanes share the list: whoever is free takes the next."""
    while cases:
        await cases.pop(0)(lane)
