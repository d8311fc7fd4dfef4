"""A control plane of the benchmark's own: real, with limits that are not what gets measured, and simulated pods."""

import asyncio
import secrets
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.support.crowd import for_each
from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.programs import provision
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_INSTANCES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref, Resource

NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
LONGEST_SECONDS: Final = 900.0
Wanted = Callable[[Manifest | None], bool]
FOREIGN_BYTES: Final = 1024  # of a foreign Secret or ConfigMap


@contextmanager
def a_control_plane() -> Generator[ControlPlane]:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(folder=Path(folder), simulated_pods=True, benchmark_limits=True)
        built = provision.provide(provision.CONTROL_PLANE + provision.SIMULATED_PODS)
        plane = ControlPlane(options, built).start()
        try:
            SimulatedPods(plane, built).start()
            yield plane
        finally:
            plane.stop()


async def make_namespace(client: KubeClient, name: str) -> None:
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    # Pods are refused until their account is there.
    await _until(client, Ref(SERVICE_ACCOUNTS, name, "default"), lambda found: found is not None)


async def remove_namespace(client: KubeClient, name: str) -> None:
    ref = Ref(NAMESPACES, "", name)
    found = await client.get(ref)
    if found is not None:
        await client.delete(ref, uid=found["metadata"]["uid"])
    await _until(client, ref, lambda left: left is None)


async def make_instance(client: KubeClient, namespace: str, name: str) -> None:
    """Returns when the operator has brought it up."""
    await client.create(
        {
            "apiVersion": FIREBOLT_INSTANCES.api_version,
            "kind": FIREBOLT_INSTANCES.kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"metadata": {}, "gateway": {}},
        }
    )
    ref = Ref(FIREBOLT_INSTANCES, namespace, name)
    await _until(client, ref, lambda found: (found or {}).get("status", {}).get("phase") == "Ready")


async def make_foreign(client: KubeClient, namespace: str, count: int) -> None:
    """So many pods, Secrets and ConfigMaps that are none of the operator's business."""
    padding = secrets.token_hex(FOREIGN_BYTES // 2)
    for kind, content in (
        (PODS.kind, {"spec": _foreign_pod()}),
        (SECRETS.kind, {"stringData": {"padding": padding}}),
        (CONFIG_MAPS.kind, {"data": {"padding": padding}}),
    ):
        manifest: Manifest = {"apiVersion": "v1", "kind": kind, **content}

        async def once(number: int, manifest: Manifest = manifest) -> None:
            labels = {"app": f"foreign-{number % 100}"}
            metadata = {"name": f"foreign-{number:05}", "namespace": namespace, "labels": labels}
            await client.create({**manifest, "metadata": metadata})

        await for_each(count, once)


def _foreign_pod() -> Manifest:
    # Nobody schedules them: what they cost the operator does not depend on it.
    return {"schedulerName": "nobody", "containers": [{"name": "main", "image": "foreign:1"}]}


async def _until(client: KubeClient, ref: Ref, wanted: Wanted) -> None:
    async with asyncio.timeout(LONGEST_SECONDS):
        while not wanted(await client.get(ref)):  # noqa: ASYNC110 - set-up, not measured
            await asyncio.sleep(0.1)
