"""Somebody with kubectl: makes, edits and deletes objects, and looks at them live."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from firebolt_operator.api.resources import FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Person:
    client: KubeClient
    namespace: str

    async def make_instance(self, **spec: Any) -> Manifest:
        return await self.client.create(
            {
                "apiVersion": FIREBOLT_INSTANCES.api_version,
                "kind": FIREBOLT_INSTANCES.kind,
                "metadata": {"name": "inst", "namespace": self.namespace},
                "spec": {"metadata": {}, "gateway": {}, **spec},
            }
        )

    async def make_secret(self, name: str, data: dict[str, str], **metadata: Any) -> Manifest:
        return await self.client.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": self.namespace, **metadata},
                "stringData": data,
            }
        )

    async def patch(self, resource: Resource, name: str, patch: Manifest, *, subresource: str = "") -> Manifest:
        ref = Ref(resource, self.namespace, name)
        return await self.client.merge_patch(ref, patch, subresource=subresource)

    async def patch_instance(self, patch: Manifest, *, subresource: str = "") -> Manifest:
        return await self.patch(FIREBOLT_INSTANCES, "inst", patch, subresource=subresource)

    async def find(self, resource: Resource, name: str) -> Manifest | None:
        return await self.client.get(Ref(resource, self.namespace, name))

    async def read(self, resource: Resource, name: str) -> Manifest:
        found = await self.find(resource, name)
        assert found is not None, f"{resource.kind} {name} is missing"
        return found

    async def delete(self, resource: Resource, name: str) -> Manifest:
        found = await self.read(resource, name)
        await self.client.delete(Ref(resource, self.namespace, name), uid=found["metadata"]["uid"])
        return found

    async def names(self, resource: Resource, labels: str = "") -> set[str]:
        found = await self.client.list(Scope(resource=resource, namespace=self.namespace, labels=labels))
        return {item["metadata"]["name"] for item in found}

    async def password(self) -> str:
        secret = await self.read(SECRETS, "inst-metadata-postgres-creds")
        return str(secret["data"]["password"])

    async def until(self, resource: Resource, name: str, wanted: Callable[[Manifest | None], bool]) -> Manifest | None:
        """For what the operator does not watch: asks until it is so."""
        async with asyncio.timeout(SECONDS):
            while not wanted(found := await self.find(resource, name)):  # noqa: ASYNC110 - the cluster decides when
                await asyncio.sleep(0.05)
        return found
