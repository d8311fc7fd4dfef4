"""What a cluster does around simulated pods: DNS follows the endpoints, and every pod that runs answers queries."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import ENDPOINT_SLICES, PODS
from firebolt_operator.engine.views import PodView, decode_pod
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.wake.decide.slices import BY_ENGINE, SliceView, decode_slice, engines_of
from firebolt_operator.wake.routing import service_host
from tests.support.dataplane.dns_server import Zone
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.ledger import Ledger


@dataclass(slots=True)
class Cluster:
    namespace: str
    network: str  # where pods have addresses
    zone: Zone = field(default_factory=Zone)
    ledger: Ledger = field(default_factory=Ledger)
    pods: dict[str, EnginePod] = field(default_factory=dict[str, EnginePod])
    _changed: asyncio.Queue[PodView] = field(default_factory=asyncio.Queue[PodView])

    def slices(self) -> Cache[SliceView]:
        coverage = Coverage(namespaces=(self.namespace,))
        cache = Cache(ENDPOINT_SLICES, decode_slice, coverage=coverage, indexes={BY_ENGINE: engines_of})

        def follow(old: SliceView | None, new: SliceView | None) -> None:
            for engine in {view.engine for view in (old, new) if view is not None and view.engine}:
                addresses = {each for view in cache.by_index(BY_ENGINE, engine) for each in view.ready_addresses}
                self.zone.set(service_host(engine, self.namespace), *sorted(addresses))

        cache.subscribe(follow)
        return cache

    def running_pods(self) -> Cache[PodView]:
        coverage = Coverage(namespaces=(self.namespace,), labels=LABEL_ENGINE)
        cache: Cache[PodView] = Cache(PODS, decode_pod, coverage=coverage)

        def follow(old: PodView | None, new: PodView | None) -> None:
            if new is not None and new.ip and not new.is_deleting:
                self._changed.put_nowait(new)
            elif (gone := new or old) is not None and (pod := self.pods.pop(gone.ip, None)) is not None:
                pod.die()

        cache.subscribe(follow)
        return cache

    async def start_pods(self) -> None:
        while True:
            view = await self._changed.get()
            if view.ip not in self.pods:
                self.pods[view.ip] = await EnginePod(view.ip, self.ledger, self.network).start()


@asynccontextmanager
async def running_cluster(client: KubeClient, namespace: str, network: str) -> AsyncGenerator[Cluster]:
    cluster = Cluster(namespace, network)
    clock, rng = SystemClock(), random.Random()
    slices = Informer(cluster.slices(), client, clock, rng)
    pods = Informer(cluster.running_pods(), client, clock, rng)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each()) for each in (cluster.start_pods, slices.run, pods.run)]
        for informer in (slices, pods):
            await asyncio.wait_for(informer.synced.wait(), 30)
        try:
            yield cluster
        finally:
            for task in tasks:
                task.cancel()
            for pod in cluster.pods.values():
                pod.die()
