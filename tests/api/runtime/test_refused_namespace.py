"""The administrator of one watched namespace takes the operator's rights away: the other one must not notice."""

import asyncio
import secrets
import urllib.request
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bench.support.cluster import make_namespace
from bench.support.operator_process import OperatorProcess, start_operator
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from firebolt_operator.api.resources import FIREBOLT_ENGINES, ROLE_BINDINGS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest, Ref
from tests.support.crds import install_crds

SECONDS: Final = 240.0  # a hang guard
RBAC: Final = "rbac.authorization.k8s.io"
USER: Final = "narrow-operator"
OPEN, CLOSED, LEASES_ARE_IN = "open", "closed", "leases"


@dataclass(frozen=True, slots=True)
class Replica:
    process: OperatorProcess
    metrics_address: str

    def refused(self) -> set[str]:
        """The namespaces that it says it may not list."""
        samples = self._samples("firebolt_operator_list_refused")
        return {labels["namespace"] for labels, value in samples if value}

    def engines(self) -> float:
        samples = self._samples("firebolt_operator_cache_objects")
        return sum(value for labels, value in samples if labels["resource"] == FIREBOLT_ENGINES.plural)

    def _samples(self, name: str) -> list[tuple[dict[str, str], float]]:
        with urllib.request.urlopen(f"http://{self.metrics_address}/metrics", timeout=60) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        samples = (sample for family in families for sample in family.samples)
        return [(sample.labels, sample.value) for sample in samples if sample.name == name]


@dataclass(slots=True)
class Town:
    plane: ControlPlane
    client: KubeClient
    kubeconfig: Path
    role: str = field(default_factory=lambda: f"everything-{secrets.token_hex(4)}")

    async def make(self) -> None:
        rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
        await self.client.create(_rbac("ClusterRole", self.role, rules=rules))
        for name in (OPEN, CLOSED, LEASES_ARE_IN):
            await make_namespace(self.client, name)

    async def let_in(self, namespace: str) -> None:
        role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": self.role}
        subject = {"apiGroup": RBAC, "kind": "User", "name": USER}
        await self.client.create(_rbac("RoleBinding", "operator", namespace, roleRef=role, subjects=[subject]))

    async def shut_out(self, namespace: str) -> None:
        ref = Ref(ROLE_BINDINGS, namespace, "operator")
        found = await self.client.get(ref)
        assert found is not None
        await self.client.delete(ref, uid=found["metadata"]["uid"])

    @contextmanager
    def replica(self) -> Generator[Replica]:
        address = f"127.0.0.1:{free_port()}"
        flags = [
            f"--kubeconfig={self.kubeconfig}",
            f"--namespaces={OPEN},{CLOSED}",
            "--leader-elect",
            f"--leader-elect-namespace={LEASES_ARE_IN}",
            f"--metrics-bind-address={address}",
            "--metrics-secure=false",
            "--wake-agent-image=op:1",
        ]
        running = start_operator(self.plane, flags)
        try:
            yield Replica(running, address)
        finally:
            if running.record.is_alive():
                running.stop()

    async def make_engine(self, namespace: str) -> None:
        metadata = {"name": "eng", "namespace": namespace}
        spec = {"instanceRef": "none", "replicas": 1}
        kind = {"apiVersion": FIREBOLT_ENGINES.api_version, "kind": FIREBOLT_ENGINES.kind}
        await self.client.create({**kind, "metadata": metadata, "spec": spec})

    async def edit(self, namespace: str, replicas: int) -> None:
        await self.client.merge_patch(Ref(FIREBOLT_ENGINES, namespace, "eng"), {"spec": {"replicas": replicas}})

    async def seen(self, namespace: str) -> tuple[int, int]:
        """The generation of the spec, and the one that the operator has come to."""
        found = await self.client.get(Ref(FIREBOLT_ENGINES, namespace, "eng"))
        assert found is not None
        return found["metadata"]["generation"], found.get("status", {}).get("observedGeneration", 0)

    async def until_seen(self, namespace: str) -> None:
        async with asyncio.timeout(SECONDS):
            while True:
                wanted, seen = await self.seen(namespace)
                if wanted == seen:
                    return
                await asyncio.sleep(0.2)


def _rbac(kind: str, name: str, namespace: str = "", **fields: object) -> Manifest:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, **fields}


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                if await asyncio.to_thread(is_so):
                    return
            except OSError:
                pass  # it does not listen yet
            await asyncio.sleep(0.2)


@asynccontextmanager
async def a_town(plane: ControlPlane) -> AsyncGenerator[Town]:
    await asyncio.to_thread(install_crds, plane.kubeconfig)
    async with KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {})) as client:
        town = Town(plane, client, plane.kubeconfig_for(USER, groups=()))
        await town.make()
        yield town
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


@pytest.mark.slow
async def test_given_one_namespace_without_rights_then_the_other_goes_on_at_start_and_takeover(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    async with a_town(fresh_control_plane()) as town:
        await town.let_in(LEASES_ARE_IN)
        await town.let_in(OPEN)
        for namespace in (OPEN, CLOSED):
            await town.make_engine(namespace)
        with town.replica() as first:
            await town.until_seen(OPEN)
            assert await town.seen(CLOSED) == (1, 0)
            assert first.refused() == {CLOSED}
            await town.let_in(CLOSED)
            await town.until_seen(CLOSED)
            with town.replica() as second:
                await until(lambda: second.engines() == 2)
                await town.shut_out(CLOSED)
                first.process.stop()
                for namespace in (OPEN, CLOSED):
                    await town.edit(namespace, replicas=2)
                await town.until_seen(OPEN)
                assert await town.seen(CLOSED) == (2, 1)
                assert second.refused() == {CLOSED}
                await town.let_in(CLOSED)
                await town.until_seen(CLOSED)
