"""The controllers of what engines share: classes, presets, classes of the cluster. One entry per kind."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Generic, TypeVar

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engineclass import watches
from firebolt_operator.engineclass.reconcile import Guarded, GuardedReconciler, Teller
from firebolt_operator.engineclass.tellers import ClassTeller, PresetTeller
from firebolt_operator.policy.guards import CLASS_GUARD, CLUSTER_CLASS_GUARD, PRESET_GUARD, Guard
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Controller, Requests
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.resting import RestingPasses
from firebolt_operator.wiring.factory import ControllerFactory

REQUEST_TIME: Final = timedelta(seconds=61)
"""An API server gives up on a request after a minute (--request-timeout), wherever it is then."""

K = TypeVar("K", bound=Guarded)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared(Generic[K]):
    controller: str  # its name
    guard: Guard
    cache: Cache[K]
    engine_changed: Callable[[FireboltEngine | None, FireboltEngine | None], Requests]
    teller: Teller[K] | None = None


def shared_controllers(factory: ControllerFactory, caches: EngineCaches) -> tuple[Controller[Key], ...]:
    client, clock = factory.client, factory.clock
    classes = _Shared(
        controller=names.CONTROLLER_ENGINE_CLASS,
        guard=CLASS_GUARD,
        cache=caches.engine_classes,
        engine_changed=watches.engine_changed,
        teller=ClassTeller(bounds=factory.bounds, reader=client, writer=client, clock=clock),
    )
    presets = _Shared(
        controller=names.CONTROLLER_ENGINE_PRESET,
        guard=PRESET_GUARD,
        cache=caches.presets,
        engine_changed=watches.engine_of_namespace_changed,
        teller=PresetTeller(reader=client, writer=client, clock=clock),
    )
    of_cluster = _Shared(
        controller=names.CONTROLLER_CLUSTER_ENGINE_CLASS,
        guard=CLUSTER_CLASS_GUARD,
        cache=caches.cluster_classes,
        engine_changed=watches.engine_of_cluster_changed,
    )
    return (
        _controller(factory, caches, classes),
        _controller(factory, caches, presets),
        _controller(factory, caches, of_cluster),
    )


def _controller(factory: ControllerFactory, caches: EngineCaches, shared: _Shared[K]) -> Controller[Key]:
    reconciler = GuardedReconciler(
        guard=shared.guard,
        objects=shared.cache,
        engines=caches.engines,
        reader=factory.client,
        writer=factory.client,
        clock=factory.clock,
        teller=shared.teller,
        # Without webhooks nobody asks whether it is alive, and nobody need be waited for.
        request_time=REQUEST_TIME if factory.settings.webhooks else timedelta(0),
    )
    queue = factory.queue(shared.controller)
    passes = RestingPasses[Key](reconciler.reconcile, lambda _key: None)
    controller = factory.controller(shared.controller, shared.guard.resource.kind, queue, passes.run)
    controller.watches(shared.cache, watches.guarded_changed)
    controller.watches(caches.engines, shared.engine_changed)
    controller.watches_aside(shared.cache, watches.aside_guarded)
    return controller
