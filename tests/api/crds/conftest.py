"""A server with our kinds, and a way to write objects of them without an operator or a webhook."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.crds import KINDS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest, Ref, Resource


@dataclass(frozen=True, slots=True)
class Stored:
    """Objects named `it`, one per kind, in one namespace."""

    client: KubeClient
    namespace: str

    async def create(self, resource: Resource, spec: Manifest | None) -> Manifest:
        manifest: Manifest = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": "it", "namespace": self.namespace},
        }
        return await self.client.create(manifest | ({} if spec is None else {"spec": spec}))

    async def read(self, resource: Resource) -> Manifest:
        found = await self.client.get(self.ref(resource))
        assert found is not None
        return found

    async def replace_spec(self, resource: Resource, spec: Manifest) -> Manifest:
        return await self.client.replace(await self.read(resource) | {"spec": spec})

    async def replace_status(self, resource: Resource, status: Manifest) -> Manifest:
        return await self.client.update_status(await self.read(resource) | {"status": status})

    def ref(self, resource: Resource) -> Ref:
        return Ref(resource, self.namespace, "it")


@pytest.fixture
async def stored(crds: None, control_plane: ControlPlane, namespace: str) -> AsyncIterator[Stored]:  # noqa: ARG001 - for its effect
    credentials = load_credentials(str(control_plane.kubeconfig), os.environ)
    async with KubeClient.from_credentials(credentials, kinds=[kind.resource for kind in KINDS]) as client:
        yield Stored(client, namespace)
