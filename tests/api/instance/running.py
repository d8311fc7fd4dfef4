"""The instance controller as it runs in the operator, on one namespace of a real API server."""

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import CONTROLLER_INSTANCE
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.lifecycle import InstanceReconciler
from firebolt_operator.instance.observe import watches as mapping
from firebolt_operator.instance.observe.caches import InstanceCaches, instance_caches
from firebolt_operator.instance.observe.image_watches import ImageWatches
from firebolt_operator.instance.observe.metrics import InstanceMetrics
from firebolt_operator.instance.render.renderer import InstanceImages, MemoisedRenderers
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.observability.events import EventSender
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Outcome, Result
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.resting import RestingPasses
from firebolt_operator.runtime.work_queue import WorkQueue
from tests.support.auth_step import auth_step
from tests.support.identity import ENGINE_IMAGE, identity_step
from tests.support.tls_step import tls_step

SECONDS = 60.0
IMAGES = InstanceImages(
    metadata_service="metadata:1.0", postgres="postgres:16-alpine", gateway="envoy:v1", wake_agent="op:1"
)


class Requests:
    """Counts what the operator asks of the API server; watches are told apart by their length."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        del code, seconds, verb
        self.seen[f"{method} {resource}"] += 1


class Silent:
    """A recorder for those who do not ask."""

    def added(self) -> None: ...
    def retried(self) -> None: ...
    def handed_out(self, waited: float, /) -> None: ...
    def finished(self, worked: float, /) -> None: ...
    def began(self) -> None: ...
    def ended(self, result: Result, seconds: float, /) -> None: ...
    def rejected(self) -> None: ...
    def timed_out(self) -> None: ...
    def crashed(self) -> None: ...


class MovedClock(SystemClock):
    """What the operator's calendar says may be ahead of the server's."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.ahead


@dataclass(slots=True)
class Operator:
    namespace: str
    client: KubeClient
    caches: InstanceCaches
    engines: EngineCaches
    queue: WorkQueue[Key]
    reconciler: InstanceReconciler
    requests: Requests
    metrics: CollectorRegistry
    clock: MovedClock
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    passes: list[str] = field(default_factory=list[str])
    resting: RestingPasses[Key] = field(init=False)

    def __post_init__(self) -> None:
        self.resting = RestingPasses(self.reconciler.reconcile, self.reconciler.confirmed)

    async def reconcile(self, key: Key) -> Outcome:
        try:
            outcome = await self.resting.run(key)
        except Exception as err:
            self.passes.append(f"error: {err}")
            self.changed.set()
            raise
        self.passes.append(outcome.reason)
        self.changed.set()
        return outcome

    def instance(self, name: str = "inst") -> FireboltInstance | None:
        return self.caches.instances.get((self.namespace, name))

    async def until(self, wanted: Callable[[FireboltInstance], bool]) -> FireboltInstance:
        """Waits for a change of the instance; every event and every pass is looked at."""
        async with asyncio.timeout(SECONDS):
            while True:
                self.changed.clear()
                found = self.instance()
                if found is not None and wanted(found):
                    return found
                await self.changed.wait()

    async def until_ready(self) -> FireboltInstance:
        return await self.until(lambda instance: instance.status.phase == "Ready")

    async def next_pass(self, name: str = "inst") -> str:
        """What one more pass came to."""
        await self.settled()
        before = len(self.passes)
        self.queue.add((self.namespace, name))
        async with asyncio.timeout(SECONDS):
            while len(self.passes) == before:
                self.changed.clear()
                await self.changed.wait()
        return self.passes[before]

    async def settled(self) -> None:
        """Nothing is queued or under way."""
        async with asyncio.timeout(SECONDS):
            while any(self.queue.depths().values()) or self.queue.running_ages():  # noqa: ASYNC110 - a queue tells nobody
                await asyncio.sleep(0.01)


@asynccontextmanager
async def running_operator(
    kubeconfig: Path, namespace: str, *, engine_image: str = ENGINE_IMAGE
) -> AsyncGenerator[Operator]:
    requests, clock, rng = Requests(), MovedClock(), random.Random(1)
    async with KubeClient.from_credentials(load_credentials(str(kubeconfig), {}), recorder=requests) as client:
        operator = _operator(client, namespace, engine_image, requests, clock)
        controller = Controller(
            settings=ControllerSettings(name=CONTROLLER_INSTANCE, describe=lambda key: {"name": key[1]}, workers=2),
            reconcile=operator.reconcile,
            queue=operator.queue,
            recorder=Silent(),
            clock=clock,
        )
        caches = operator.caches
        controller.watches(caches.instances, mapping.instance_changed)
        for child in caches.children:
            controller.watches(child, mapping.child_changed)
        controller.watches(caches.secrets, mapping.child_changed)
        engines = operator.engines
        waiting = ImageWatches(engines.engines, caches.instances)
        controller.watches(engines.engines, waiting.engine_changed)
        controller.watches(engines.engine_classes, waiting.class_changed)
        controller.watches(engines.cluster_classes, waiting.cluster_class_changed)
        controller.watches(engines.presets, waiting.preset_changed)
        inherited = (engines.engines, engines.engine_classes, engines.cluster_classes, engines.presets)
        followed: list[Any] = [caches.instances, *inherited, *caches.own()]
        informers = [Informer(cache, client, clock, rng) for cache in followed]
        for informer in informers:
            client.add_observer(informer.cache)
            informer.cache.subscribe(lambda _old, _new: operator.changed.set())
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(informer.run(), name=informer.name) for informer in informers]
            tasks.append(group.create_task(operator.reconciler._dependencies.secrets.run(), name="secrets"))
            for informer in informers:
                await asyncio.wait_for(informer.synced.wait(), SECONDS)
            work = group.create_task(controller.run(), name="controller")
            try:
                yield operator
            finally:
                controller.close()
                await asyncio.wait_for(asyncio.shield(work), timedelta(seconds=10).total_seconds())
                for task in tasks:
                    task.cancel()
        # TLS connections say goodbye before they close, and nothing tells when they have.
        await asyncio.sleep(0.2)


def _operator(client: KubeClient, namespace: str, engine_image: str, requests: Requests, clock: MovedClock) -> Operator:
    engines = engine_caches((namespace,), "")
    caches = instance_caches(engines.instances, (namespace,))
    queue: WorkQueue[Key] = WorkQueue(clock, Silent())
    metrics = CollectorRegistry()
    auth = auth_step(client, client, clock)
    dependencies = InstanceDependencies(
        caches=caches,
        secrets=SecretWatches(
            "referenced secrets", decode_secret, Following(reader=client, clock=clock, rng=random.Random(1)), queue.add
        ),
        reader=client,
        writer=client,
        warner=Warner(
            FIREBOLT_INSTANCES,
            EventSender(client.unobserved, controller=CONTROLLER_INSTANCE, instance="test"),
            clock,
        ),
        recorder=InstanceMetrics(metrics, clock),
        auth=auth,
        identity=identity_step(client, client, engines, engine_image=engine_image),
        tls=tls_step(client, client, clock, auth),
        clock=clock,
        blueprints=MemoisedRenderers(IMAGES),
        entropy=secrets.token_bytes,
    )
    reconciler = InstanceReconciler(dependencies)
    return Operator(namespace, client, caches, engines, queue, reconciler, requests, metrics, clock)
