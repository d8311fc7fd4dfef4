"""The three controllers: what each of them watches, and with whom it shares a cache."""

import random
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.api.names import CONTROLLER_ENGINE, CONTROLLER_ENGINE_CLASS, CONTROLLER_INSTANCE
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.inputs import EngineImages, EngineSettings
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.observe import watches as engine_watches
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.engine.observe.metrics import EngineMetrics, EngineRecorder, NoEngineRecorder
from firebolt_operator.engine.observe.scrape_lane import PLACES, ScrapeLane, waiting_line
from firebolt_operator.engine.observe.scrape_places import ScrapePlaces
from firebolt_operator.engine.render.renderer import MemoisedRenderer
from firebolt_operator.engineclass import watches as class_watches
from firebolt_operator.engineclass.reconcile import EngineClassReconciler
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.lifecycle import InstanceReconciler
from firebolt_operator.instance.observe import watches as instance_watches
from firebolt_operator.instance.observe.caches import InstanceCaches, instance_caches
from firebolt_operator.instance.observe.metrics import InstanceMetrics, InstanceRecorder, NoInstanceRecorder
from firebolt_operator.instance.render.renderer import InstanceImages, MemoisedRenderers
from firebolt_operator.instance.views import SecretView, decode_secret
from firebolt_operator.pace import Pace
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.runtime.controller import Controller
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.resting import RestingPasses
from firebolt_operator.runtime.work_queue import WorkQueue
from firebolt_operator.wiring.authentication import Authentication, build_authentication
from firebolt_operator.wiring.factory import ControllerFactory

REQUEST_TIME: Final = timedelta(seconds=61)
"""An API server gives up on a request after a minute (--request-timeout), wherever it is then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controllers:
    informers: tuple[Informer[object], ...]
    services: tuple[Service, ...]
    controllers: tuple[Controller[Key], ...]


def build_controllers(factory: ControllerFactory) -> Controllers:
    settings = factory.settings
    engines = engine_caches(settings.namespaces, settings.watch_label_selector)
    instances = instance_caches(engines.instances, settings.namespaces)
    authentication = build_authentication(factory, engines)
    watches, instance = _instance_controller(factory, instances, authentication)
    lane, engine = _engine_controller(factory, engines, authentication)
    return Controllers(
        informers=(
            *(factory.informer(cache) for cache in engines.all()),
            *(factory.informer(cache, f"instance {cache.resource.plural}") for cache in instances.own()),
        ),
        services=(watches, lane, *authentication.services),
        controllers=(engine, instance, _class_controller(factory, engines)),
    )


def _scrape_lane(factory: ControllerFactory, caches: EngineCaches, answered: Callable[[Key], None]) -> ScrapeLane:
    per_second = factory.settings.scrapes_per_second
    line = waiting_line(factory.clock, factory.queue_metrics.recorder("scrapes"))
    factory.queue_metrics.shows("scrapes", line)
    return ScrapeLane(
        instances=caches.instances,
        reader=factory.client,
        clock=factory.clock,
        places=ScrapePlaces(factory.clock, engines=PLACES),
        proxy_pace=Pace(per_second=per_second, burst=per_second) if per_second else None,
        line=line,
        answered=answered,
    )


def _engine_controller(
    factory: ControllerFactory, caches: EngineCaches, authentication: Authentication
) -> tuple[ScrapeLane, Controller[Key]]:
    settings, queue = factory.settings, factory.queue(CONTROLLER_ENGINE)
    lane = _scrape_lane(factory, caches, queue.add)
    dependencies = EngineDependencies(
        caches=caches,
        reader=factory.client,
        writer=factory.client,
        events=factory.events(CONTROLLER_ENGINE),
        recorder=_engine_recorder(factory),
        clock=factory.clock,
        settings=EngineSettings(
            images=EngineImages(engine=settings.images.engine, ui=settings.images.ui),
            bounds=factory.bounds,
            drain_settle=settings.drain_settle,
            max_rolling=settings.max_rolling,
        ),
        scrapes=lane,
        blueprint=MemoisedRenderer(),
        auth=authentication.secrets,
    )
    reconciler = EngineReconciler(dependencies)
    passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)
    controller = factory.controller(CONTROLLER_ENGINE, "FireboltEngine", queue, passes.run)
    referring = engine_watches.EnginesOf(caches.engines)
    controller.watches(caches.engines, engine_watches.engine_changed)
    controller.watches(caches.engines, dependencies.rolling.changed)
    controller.watches(caches.instances, referring.instance_changed)
    controller.watches(caches.engine_classes, referring.class_changed)
    controller.watches(caches.pods, referring.pod_changed)
    for cache in caches.children():
        controller.watches(cache, referring.child_changed)
        controller.watches_aside(cache, engine_watches.aside_child)
    controller.watches_aside(caches.engines, engine_watches.aside_engine)
    controller.watches_aside(caches.pods, engine_watches.aside_child)
    controller.watches_aside(caches.instances, referring.aside_instance)
    controller.watches_aside(caches.engine_classes, referring.aside_class)
    authentication.told.append(lambda instance: _add_all(queue, referring.of_instance(instance)))
    return lane, controller


def _add_all(queue: WorkQueue[Key], keys: Iterable[Key]) -> None:
    for key in keys:
        queue.add(key)


def _class_controller(factory: ControllerFactory, caches: EngineCaches) -> Controller[Key]:
    reconciler = EngineClassReconciler(
        classes=caches.engine_classes,
        engines=caches.engines,
        bounds=factory.bounds,
        reader=factory.client,
        writer=factory.client,
        clock=factory.clock,
        # Without webhooks nobody asks whether a class is alive, and nobody need be waited for.
        request_time=REQUEST_TIME if factory.settings.webhooks else timedelta(0),
    )
    queue = factory.queue(CONTROLLER_ENGINE_CLASS)
    passes = RestingPasses[Key](reconciler.reconcile, lambda _key: None)
    controller = factory.controller(CONTROLLER_ENGINE_CLASS, "FireboltEngineClass", queue, passes.run)
    controller.watches(caches.engine_classes, class_watches.class_changed)
    controller.watches(caches.engines, class_watches.engine_changed)
    controller.watches_aside(caches.engine_classes, class_watches.aside_class)
    return controller


def _instance_controller(
    factory: ControllerFactory, caches: InstanceCaches, authentication: Authentication
) -> tuple[SecretWatches[SecretView], Controller[Key]]:
    images = factory.settings.images
    queue = factory.queue(CONTROLLER_INSTANCE)
    watches = SecretWatches(
        "referenced secrets",
        decode_secret,
        Following(reader=factory.client, clock=factory.clock, rng=random.Random()),
        queue.add,
    )
    dependencies = InstanceDependencies(
        caches=caches,
        secrets=watches,
        reader=factory.client,
        writer=factory.client,
        warner=Warner(FIREBOLT_INSTANCES, factory.events(CONTROLLER_INSTANCE), factory.clock),
        recorder=_instance_recorder(factory),
        auth=authentication.step,
        clock=factory.clock,
        blueprints=MemoisedRenderers(
            InstanceImages(
                metadata_service=images.metadata,
                postgres=images.postgres,
                gateway=images.gateway,
                wake_agent=images.wake_agent,
                wake_agent_pull_policy=images.wake_agent_pull_policy,
            )
        ),
        entropy=secrets.token_bytes,
        operator_account=factory.settings.operator_account,
    )
    reconciler = InstanceReconciler(dependencies)
    passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)
    controller = factory.controller(CONTROLLER_INSTANCE, "FireboltInstance", queue, passes.run)
    controller.watches(caches.instances, instance_watches.instance_changed)
    controller.watches_aside(caches.instances, instance_watches.aside_instance)
    for cache in (*caches.children,):
        controller.watches(cache, instance_watches.child_changed)
        controller.watches_aside(cache, instance_watches.aside_child)
    controller.watches(caches.secrets, instance_watches.child_changed)
    controller.watches_aside(caches.secrets, instance_watches.aside_child)
    controller.watches(authentication.certificates.cache, instance_watches.certificate_changed)
    controller.watches_aside(authentication.certificates.cache, instance_watches.aside_child)
    authentication.told.append(queue.add)
    authentication.whenever_cert_manager_turns(caches.instances, queue.add)
    return watches, controller


def _engine_recorder(factory: ControllerFactory) -> EngineRecorder:
    """Without a metrics server nobody would ever read them."""
    return (
        EngineMetrics(factory.metrics.registry) if factory.settings.metrics.bind_address != "0" else NoEngineRecorder()
    )


def _instance_recorder(factory: ControllerFactory) -> InstanceRecorder:
    is_served = factory.settings.metrics.bind_address != "0"
    return InstanceMetrics(factory.metrics.registry, factory.clock) if is_served else NoInstanceRecorder()
