"""Somebody with kubectl: makes, edits and deletes objects, and looks at them live."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    CONFIG_MAPS,
    EVENTS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.api.serialise import format_time
from firebolt_operator.errors import NotFoundError, UnreadableError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource
from firebolt_operator.runtime.objects import header_of
from tests.support.kubectl import kubectl
from tests.support.raw import is_unreadable

SECONDS = 60.0
INSTANCE_ID = "01JZ8E3F9V7Q0K2M4N6P8R0T2W"
SERVING: Manifest = {"phase": "Ready", "metadataEndpoint": "inst-metadata.ns.svc.cluster.local:7000"}


@dataclass(frozen=True, slots=True)
class Person:
    client: KubeClient
    namespace: str
    kubeconfig: Path

    async def make_instance(self, status: Manifest = SERVING, **spec: Any) -> None:
        """No controller looks after it: it is in whatever state the test says."""
        spec = {"id": INSTANCE_ID, "metadata": {}, "gateway": {}, **spec}
        await self.client.create(self.manifest(FIREBOLT_INSTANCES, "inst", spec=spec))
        await self.tell_instance(status)

    async def tell_instance(self, status: Manifest) -> None:
        await self.patch(FIREBOLT_INSTANCES, "inst", {"status": status}, subresource="status")

    async def make_engine(self, name: str = "eng", *, replicas: int = 1, **fields: Any) -> Manifest:
        labels: dict[str, str] = fields.pop("labels", {})
        spec = {"instanceRef": "inst", "replicas": replicas, **fields}
        return await self.client.create(self.manifest(FIREBOLT_ENGINES, name, labels=labels, spec=spec))

    async def make_class(self, name: str = "big", **spec: Any) -> Manifest:
        labels: dict[str, str] = spec.pop("labels", {})
        manifest = self.manifest(FIREBOLT_ENGINE_CLASSES, name, labels=labels, spec={"template": {}, **spec})
        return await self.client.create(manifest)

    async def make_preset(self, name: str = "firebolt", **spec: Any) -> Manifest:
        return await self.client.create(self.manifest(FIREBOLT_ENGINE_PRESETS, name, spec={"template": {}, **spec}))

    async def make_cluster_class(self, name: str, template: Manifest) -> Manifest:
        resource = CLUSTER_FIREBOLT_ENGINE_CLASSES
        metadata = {"name": name}
        manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        return await self.client.create({**manifest, "spec": {"template": template}})

    async def edit_engine(self, name: str = "eng", **spec: Any) -> Manifest:
        return await self.patch(FIREBOLT_ENGINES, name, {"spec": spec})

    async def edit_class(self, name: str = "big", **spec: Any) -> Manifest:
        return await self.patch(FIREBOLT_ENGINE_CLASSES, name, {"spec": spec})

    async def patch(self, resource: Resource, name: str, patch: Manifest, *, subresource: str = "") -> Manifest:
        return await self.client.merge_patch(Ref(resource, self.namespace, name), patch, subresource=subresource)

    async def ask_for_engine(self, at: datetime, name: str = "eng") -> None:
        """As the gateway does when a query waits."""
        stamp = {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: format_time(at)}}}
        await self.patch(FIREBOLT_ENGINES, name, stamp)

    async def annotate_pod(self, name: str, **annotations: str | None) -> None:
        """Steers a simulated pod: `fault="CrashLoopBackOff"`, or `fault=None` to take it back."""
        notes = {f"sim.firebolt.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
        await self.patch(PODS, name, {"metadata": {"annotations": notes}})

    async def find(self, resource: Resource, name: str) -> Manifest | None:
        return await self.client.get(Ref(resource, self.namespace if resource.namespaced else "", name))

    async def read(self, resource: Resource, name: str) -> Manifest:
        found = await self.find(resource, name)
        assert found is not None, f"{resource.kind} {name} is missing"
        return found

    async def is_unreadable(self, resource: Resource, name: str) -> bool:
        return await is_unreadable(self.client, Ref(resource, self.namespace, name))

    async def delete(self, resource: Resource, name: str) -> Manifest:
        found = await self.read(resource, name)
        await self.client.delete(Ref(resource, self.namespace, name), uid=found["metadata"]["uid"])
        return found

    async def release(self, resource: Resource, name: str) -> None:
        """Takes all finalizers off."""
        await self.patch(resource, name, {"metadata": {"finalizers": None}})

    async def leave(self) -> None:
        """With no operator left to answer finalizers, the namespace would never go, and be tried again and again."""
        for resource in (FIREBOLT_ENGINES, FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS):
            scope = Scope(resource=resource, namespace=self.namespace)
            found = [header_of(item) async for page in self.client.pages(scope) for item in page.items]
            for header in found:
                with suppress(NotFoundError, UnreadableError):  # it was on its way out, or done all the same
                    await self.release(resource, header.metadata.name)

    async def listed(self, resource: Resource, labels: str = "") -> list[Manifest]:
        return await self.client.list(Scope(resource=resource, namespace=self.namespace, labels=labels))

    async def names(self, resource: Resource, labels: str = "") -> set[str]:
        return {item["metadata"]["name"] for item in await self.listed(resource, labels)}

    async def children(self, engine: str = "eng") -> set[str]:
        """Names of all that carries the engine's label, with the first letter of their kind before them."""
        found = set[str]()
        for resource in (STATEFULSETS, SERVICES, CONFIG_MAPS):
            found |= {f"{resource.kind}/{name}" for name in await self.names(resource, f"{LABEL_ENGINE}={engine}")}
        return found

    async def selected_generation(self, engine: str = "eng") -> str:
        service = await self.read(SERVICES, f"{engine}-service")
        return str(service["spec"]["selector"][LABEL_GENERATION])

    async def until(self, resource: Resource, name: str, wanted: Callable[[Manifest | None], bool]) -> Manifest | None:
        """For what the operator does not watch: asks until it is so."""
        async with asyncio.timeout(SECONDS):
            while not wanted(found := await self.find(resource, name)):  # noqa: ASYNC110 - the cluster decides when
                await asyncio.sleep(0.05)
        return found

    async def until_gone(self, resource: Resource, name: str) -> None:
        await self.until(resource, name, lambda found: found is None)

    async def until_children(self, wanted: set[str], engine: str = "eng") -> None:
        """What is deleted may stay for a moment: the garbage collector has its own pace."""
        async with asyncio.timeout(SECONDS):
            while await self.children(engine) != wanted:  # noqa: ASYNC110 - the cluster decides when
                await asyncio.sleep(0.05)

    async def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        words = [f"--namespace={self.namespace}", *arguments]
        return await asyncio.to_thread(kubectl, self.kubeconfig, words, stdin=stdin)

    async def describe(self, engine: str = "eng") -> str:
        return await self.kubectl("describe", "fireng", engine)

    async def events(self, reason: str, engine: str = "eng") -> list[Manifest]:
        """What was said about the engine under that reason."""
        found = await self.listed(EVENTS)
        return [each for each in found if each["reason"] == reason and each["regarding"]["name"] == engine]

    def manifest(self, resource: Resource, name: str, **fields: Any) -> Manifest:
        metadata = {"name": name, "namespace": self.namespace, "labels": fields.pop("labels", {})}
        metadata |= fields.pop("metadata", {})
        return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def generation(number: int, engine: str = "eng") -> set[str]:
    """The objects of one generation, as `children` names them."""
    name = f"{engine}-g{number}"
    return {f"StatefulSet/{name}", f"Service/{name}-hl", f"ConfigMap/{name}-config"}


def serving(number: int, engine: str = "eng") -> set[str]:
    """All that a resting engine has."""
    return generation(number, engine) | {f"Service/{engine}-service"}
