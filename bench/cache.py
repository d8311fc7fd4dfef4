"""What does a cached pod cost, how fast do events reach the queue, and how long does a list hold the loop?

    python bench/cache.py [--objects 10000]

The list runs against a real API server; the other figures need none.
"""

import argparse
import asyncio
import gc
import json
import random
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.programs import provision
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.refs import Manifest, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.work_queue import WorkQueue

PODS: Final = Resource("", "v1", "pods", "Pod")
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
IN_FLIGHT: Final = 32


class Owner(msgspec.Struct, frozen=True, gc=False):
    uid: str
    kind: str


class PodMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    labels: dict[str, str] = {}
    owner_references: tuple[Owner, ...] = ()
    deletion_timestamp: str | None = None


class Condition(msgspec.Struct, frozen=True, gc=False):
    type: str
    status: str


class PodStatus(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[Condition, ...] = ()


class Pod(msgspec.Struct, frozen=True, gc=False):
    metadata: PodMetadata
    status: PodStatus = PodStatus()


class Settings(msgspec.Struct, frozen=True, gc=False):
    """A ConfigMap of which nothing but the name is wanted."""

    metadata: PodMetadata


class NoNotes:
    def added(self) -> None: ...
    def retried(self) -> None: ...
    def handed_out(self, waited: float, /) -> None: ...
    def finished(self, worked: float, /) -> None: ...


def a_pod(number: int, version: int) -> bytes:
    """About 4 KB, as a StatefulSet's pod has when it runs."""
    engine = f"engine-{number // 3}"
    labels = {
        "firebolt.io/engine": engine,
        "firebolt.io/generation": "7",
        "firebolt.io/instance": "analytics",
        "apps.kubernetes.io/pod-index": str(number % 3),
        "controller-revision-hash": f"{engine}-g7-6c5d8b7f9",
        "statefulset.kubernetes.io/pod-name": f"{engine}-g7-{number % 3}",
    }
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": f"{engine}-g7", "uid": f"{number // 3:032x}"}
    environment = [{"name": f"SETTING_{n}", "value": "x" * 40} for n in range(12)]
    container = {
        "name": "engine",
        "image": "example.invalid/engine:1",
        "env": environment,
        "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi"}},
        "volumeMounts": [{"name": f"volume-{n}", "mountPath": f"/data/{n}"} for n in range(6)],
        "readinessProbe": {"httpGet": {"path": "/health/ready", "port": 8122}, "periodSeconds": 1},
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "lastProbeTime": None}
        for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    managed = [
        {"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:status": {"f:phase": {}} | {"f:x": "y" * 900}}}
    ]
    pod: Manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{engine}-g7-{number % 3}",
            "namespace": "analytics",
            "uid": f"{number:08x}-0000-4000-8000-{number:012x}",
            "resourceVersion": str(version),
            "labels": labels,
            "ownerReferences": [owner],
            "managedFields": managed,
        },
        "spec": {"containers": [container], "nodeName": "node-1", "serviceAccountName": "default"},
        "status": {"phase": "Running", "podIP": f"10.0.{number // 250}.{number % 250}", "conditions": conditions},
    }
    return json.dumps(pod).encode()


def a_pod_cache() -> Cache[Pod]:
    def owners(pod: Pod) -> list[str]:
        return [owner.uid for owner in pod.metadata.owner_references]

    def engines(pod: Pod) -> list[str]:
        return [pod.metadata.labels["firebolt.io/engine"]]

    return Cache(PODS, msgspec.json.Decoder(Pod).decode, indexes={"owner": owners, "engine": engines})


def memory_per_pod(count: int) -> tuple[float, float]:
    """KiB per pod, and KB of its JSON."""
    bodies = [a_pod(number, number + 1) for number in range(count)]
    cache = a_pod_cache()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    listing = cache.begin_list("", count + 1)
    for body in bodies:
        cache.listed(listing, body)
    cache.end_list(listing)
    del listing
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(cache) == count
    return (after - before) / count / 1024, sum(map(len, bodies)) / count / 1000


def events_per_second(count: int) -> float:
    """From a line of the watch to a key in the queue: ordering, projection, indexes, mapping."""
    cache = a_pod_cache()
    queue: WorkQueue[str] = WorkQueue(SystemClock(), NoNotes())
    cache.subscribe(lambda _, new: queue.add(new.metadata.labels["firebolt.io/engine"]) if new else None)
    cache.end_list(cache.begin_list("", 1))
    events = [WatchEvent("MODIFIED", a_pod(number % 1000, number + 2)) for number in range(count)]
    began_at = time.perf_counter()
    for event in events:
        cache.watched("", event)
    return count / (time.perf_counter() - began_at)


async def longest_block(client: KubeClient, count: int) -> tuple[float, float]:
    """Milliseconds: the longest time the loop was held while everything was listed, and the whole list."""
    cache = Cache(CONFIG_MAPS, msgspec.json.Decoder(Settings).decode)
    informer = Informer(cache, client, SystemClock(), random.Random())
    longest = 0.0
    began_at = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run(), name="informer")
        while not informer.synced.is_set():
            turn_at = time.perf_counter()
            await asyncio.sleep(0)  # never waits, so a turn of the loop holds nothing but the work of others
            longest = max(longest, time.perf_counter() - turn_at)
        whole = time.perf_counter() - began_at
        task.cancel()
    assert len(cache) >= count
    return longest * 1000, whole * 1000


async def fill(client: KubeClient, count: int) -> None:
    gate = asyncio.Semaphore(IN_FLIGHT)

    async def create(number: int) -> None:
        metadata = {"name": f"settings-{number}", "namespace": "default", "labels": {"number": str(number)}}
        manifest: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"x": "y" * 3500}}
        async with gate:
            await client.create(manifest)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(create(number), name=f"create {number}")


async def against_a_server(count: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        options = Options(folder=Path(folder), controllers=(), scheduler=False, benchmark_limits=True)
        plane = ControlPlane(options, provision.provide(provision.CONTROL_PLANE)).start()
        try:
            credentials = load_credentials(str(plane.kubeconfig), {})
            async with KubeClient.from_credentials(credentials, kinds=[CONFIG_MAPS]) as client:
                await fill(client, count)
                return await longest_block(client, count)
        finally:
            plane.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000)
    count: int = parser.parse_args().objects
    kibibytes, kilobytes = memory_per_pod(count)
    speed = events_per_second(count)
    block, whole = uvloop.run(against_a_server(count))
    print(f"{'figure':<52}{'measured':>12}{'target':>10}")
    print(f"{f'KiB per cached pod ({kilobytes:.1f} KB of JSON, 2 indexes)':<52}{kibibytes:>12.2f}{'<= 3':>10}")
    print(f"{'events/s from the watch to the queue':<52}{speed:>12,.0f}{'':>10}")
    print(f"{f'ms the loop is held, {count:,} objects listed':<52}{block:>12.1f}{'<= 50':>10}")
    print(f"{'ms for the whole list':<52}{whole:>12.0f}{'':>10}")


if __name__ == "__main__":
    main()
