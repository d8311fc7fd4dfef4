"""A cluster of its own, the operator as a process, and namespaces for those who mean harm and those who do not."""

import asyncio
import urllib.request
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from prometheus_client.parser import text_string_to_metric_families

from bench.support.cluster import make_namespace
from bench.support.crowd import for_each
from bench.support.operator_process import OperatorProcess, start_operator
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from firebolt_local.cluster.scrape import ScrapeControl
from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest
from tests.api.hostile.traps import INSTANCE, OPERATOR_ACCOUNT, Sort, Told, Trap, manifest
from tests.support.crds import install_crds
from tests.support.kubectl import kubectl
from tests.support.raw import create_raw

ANYTHING: Final[Manifest] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
OPERATORS_NAMESPACE: Final = "operators-own"


@dataclass(frozen=True, slots=True)
class Arena:
    plane: ControlPlane
    scrape: ScrapeControl
    client: KubeClient
    metrics_address: str = field(default_factory=lambda: f"127.0.0.1:{free_port()}")

    @asynccontextmanager
    async def operator(self) -> AsyncGenerator[OperatorProcess]:
        """Watches all namespaces, as most do. Should it end by itself, so does whatever is done meanwhile."""
        running = start_operator(
            self.plane,
            [
                f"--operator-account={OPERATORS_NAMESPACE}/{OPERATOR_ACCOUNT}",
                f"--metrics-bind-address={self.metrics_address}",
                "--metrics-secure=false",
                "--wake-agent-image=op:1",
            ],
        )
        try:
            async with asyncio.TaskGroup() as group:
                guard = group.create_task(running.until_dead(), name="guard of the operator")
                yield running
                guard.cancel()
        finally:
            if running.record.is_alive():
                running.stop()

    async def metric(self, name: str) -> float:
        """Of the running operator, over all labels."""
        text = await asyncio.to_thread(self._metrics)
        families = text_string_to_metric_families(text)
        return sum(sample.value for family in families for sample in family.samples if sample.name == name)

    def _metrics(self) -> str:
        with urllib.request.urlopen(f"http://{self.metrics_address}/metrics", timeout=60) as answer:
            return str(answer.read().decode())

    async def make_namespaces(self, *names: str) -> None:
        for name in names:
            await make_namespace(self.client, name)

    async def make_tenant(self, namespace: str) -> None:
        """With an instance in order."""
        await self.make_namespaces(namespace)
        spec: Manifest = {"metadata": {}, "gateway": {}}
        await self.client.create(manifest(FIREBOLT_INSTANCES, namespace, INSTANCE, spec=spec))

    async def put_up(self, traps: Sequence[Trap]) -> list[Told]:
        bodies = [[(each.told.ref.namespace, *body) for body in each.bodies] for each in traps]

        async def once(number: int) -> None:
            for namespace, resource, body in bodies[number]:
                await create_raw(self.client, resource, namespace, body)

        await for_each(len(bodies), once)
        return [each.told for each in traps]

    def loosen(self) -> None:
        """The definitions as they may have been once: any spec is taken."""
        kubectl(self.plane.kubeconfig, ["apply", "--server-side", "--force-conflicts", "-f", "-"], stdin=_loose_crds())

    async def tighten(self) -> None:
        await asyncio.to_thread(install_crds, self.plane.kubeconfig)


def spread(sorts: Sequence[Sort], namespaces: Sequence[str], each: int) -> list[Trap]:
    """So many of every sort, in turn over the namespaces."""
    return [
        sort.spring(namespaces[number % len(namespaces)], f"{sort.name}-{number}")
        for sort in sorts
        for number in range(each)
    ]


def _loose_crds() -> str:
    return yaml.safe_dump_all([_loose(each) for each in crd_manifests()])


def _loose(crd: dict[str, Any]) -> dict[str, Any]:
    (version,) = crd["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    properties = {**schema["properties"], "spec": ANYTHING}
    loose = {"type": "object", "properties": properties}
    versions = [{**version, "schema": {"openAPIV3Schema": loose}}]
    return {**crd, "spec": {**crd["spec"], "versions": versions}}


@asynccontextmanager
async def an_arena(plane: ControlPlane, scrape: ScrapeControl) -> AsyncGenerator[Arena]:
    await asyncio.to_thread(install_crds, plane.kubeconfig)
    async with KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {})) as client:
        yield Arena(plane, scrape, client)
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)
