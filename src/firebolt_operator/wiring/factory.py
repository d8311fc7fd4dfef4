"""What everything in the process is made of, made once."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Reader
from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.controller_metrics import ControllerMetrics, WorkQueueMetrics
from firebolt_operator.observability.events import EventSender
from firebolt_operator.observability.metrics import EventMetrics, Metrics
from firebolt_operator.observability.server_metrics import CertificateMetrics
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Reconcile
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.known_namespaces import KnownNamespaces
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import WorkQueue
from firebolt_operator.settings import Settings


@dataclass(slots=True, kw_only=True)
class ControllerFactory:
    settings: Settings
    bounds: ResourceBounds
    client: KubeClient
    clock: Clock
    metrics: Metrics
    identity: str  # of this process, among its replicas
    admission_reader: Reader | None = None  # a way of its own: a review must not wait behind a thousand passes
    cache_metrics: CacheMetrics = field(init=False)
    known_namespaces: KnownNamespaces = field(init=False)
    controller_metrics: ControllerMetrics = field(init=False)
    queue_metrics: WorkQueueMetrics = field(init=False)
    event_metrics: EventMetrics = field(init=False)
    certificate_metrics: CertificateMetrics = field(init=False)

    def __post_init__(self) -> None:
        self.cache_metrics = CacheMetrics(self.metrics)
        self.known_namespaces = KnownNamespaces(self.cache_metrics.pass_put_off)
        self.controller_metrics = ControllerMetrics(self.metrics)
        self.queue_metrics = WorkQueueMetrics(self.metrics)
        self.event_metrics = EventMetrics(self.metrics)
        self.certificate_metrics = CertificateMetrics(self.metrics)

    def informer(self, cache: Cache[Any], name: str = "") -> Informer[Any]:
        """Keeps the cache equal to the server; our own writes reach it directly."""
        self.client.add_observer(cache)
        informer: Informer[Any] = Informer(cache, self.client, self.clock, random.Random())
        self.cache_metrics.shows(name or informer.name, cache)
        self.cache_metrics.follows(name or informer.name, informer)
        self.known_namespaces.informers.append(informer)
        return informer

    def queue(self, controller: str) -> WorkQueue[Key]:
        recorder = self.queue_metrics.recorder(controller)
        # By namespace: the objects of one tenant, however many, do not keep those of the others waiting.
        queue: WorkQueue[Key] = WorkQueue(self.clock, recorder, group_of=lambda key: key[0])
        self.queue_metrics.shows(controller, queue)
        return queue

    def controller(self, name: str, kind: str, queue: WorkQueue[Key], reconcile: Reconcile[Key]) -> Controller[Key]:
        workers = self.settings.concurrent_passes

        def describe(key: Key) -> Mapping[str, object]:
            place = {"namespace": key[0], "name": key[1]}
            return {"controllerKind": kind, kind: place, **place}

        # As many again for what is urgent: a switch of traffic is short, and all others may be long at work.
        settings = ControllerSettings(name=name, describe=describe, workers=workers, urgent_workers=workers)
        recorder = self.controller_metrics.recorder(name, workers=workers)
        return Controller(settings, self.known_namespaces.guard(reconcile), queue, recorder, self.clock)

    def events(self, controller: str) -> EventSender:
        self.event_metrics.expect((controller,))
        return EventSender(
            self.client.unobserved, controller=controller, instance=self.identity, counter=self.event_metrics
        )
