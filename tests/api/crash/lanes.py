"""Namespaces in which cases run one after the other: somebody operates there, dies, and is followed by somebody new."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from firebolt_local.testing.inventory import differences
from firebolt_local.testing.ledger import SECONDS, Ledger, World
from firebolt_operator.api.resources import SERVICE_ACCOUNTS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.crash.living import Build, a_life
from tests.api.crash.mortal import MortalTransport

NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)


@dataclass(slots=True)
class Lane:
    namespace: str
    kubeconfig: Path
    client: KubeClient  # of somebody, not of the operator
    ledger: Ledger
    build: Build
    operator: MortalTransport = field(init=False)
    _life: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def revive(self) -> None:
        """Whoever operates here is gone; somebody new begins."""
        await self._life.aclose()
        self.operator = await self._life.enter_async_context(a_life(self.kubeconfig, self.namespace, self.build))

    async def close(self) -> None:
        await self._life.aclose()

    @property
    def world(self) -> World:
        return self.ledger.worlds[self.namespace]

    async def create(self, resource: Resource, name: str, **spec: object) -> None:
        await self.client.create(a_manifest(resource, self.namespace, name, **spec))

    async def edit(self, resource: Resource, name: str, **spec: object) -> None:
        await self.client.merge_patch(Ref(resource, self.namespace, name), {"spec": spec})

    async def delete(self, resource: Resource, name: str) -> None:
        ref = Ref(resource, self.namespace, name)
        found = await self.client.get(ref)
        assert found is not None
        await self.client.delete(ref, uid=found["metadata"]["uid"])

    async def until_listed(self, kinds: tuple[Resource, ...], wanted: Counter[str]) -> None:
        """The server itself says so. Kubernetes' own controllers may make an object once more that is to go."""
        found: list[str] = []
        try:
            async with asyncio.timeout(SECONDS):
                while found := differences(await self._listed(kinds), wanted):  # noqa: ASYNC110 - it decides when
                    await asyncio.sleep(0.1)
        except TimeoutError as err:
            raise AssertionError(f"still so after {SECONDS:g} s: {found}") from err

    async def _listed(self, kinds: tuple[Resource, ...]) -> list[Manifest]:
        found: list[Manifest] = []
        for resource in kinds:
            found += await self.client.list(Scope(resource=resource, namespace=self.namespace))
        return found


def a_manifest(resource: Resource, namespace: str, name: str, **spec: object) -> Manifest:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


L = TypeVar("L", bound=Lane)


@asynccontextmanager
async def in_a_namespace(lane: L) -> AsyncGenerator[L]:
    """Opened and closed; whoever operates there begins later, with `revive`."""
    client, name = lane.client, lane.namespace
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    try:
        await _has_account(client, name)
        yield lane
    finally:
        await lane.close()
        stored = await client.get(Ref(NAMESPACES, "", name))
        assert stored is not None
        await client.delete(Ref(NAMESPACES, "", name), uid=stored["metadata"]["uid"])


async def _has_account(client: KubeClient, namespace: str) -> None:
    """Pods are refused until their account is there."""
    account = Ref(SERVICE_ACCOUNTS, namespace, "default")
    async with asyncio.timeout(SECONDS):
        while await client.get(account) is None:  # noqa: ASYNC110 - a moment, once
            await asyncio.sleep(0.05)
