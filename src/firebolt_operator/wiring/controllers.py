"""The three controllers: what each of them watches, and with whom it shares a cache."""

import random
import secrets
from dataclasses import dataclass

from firebolt_operator.api.names import CONTROLLER_ENGINE, CONTROLLER_ENGINE_CLASS, CONTROLLER_INSTANCE
from firebolt_operator.engine import mapping as engine_mapping
from firebolt_operator.engine.caches import EngineCaches, engine_caches
from firebolt_operator.engine.inputs import EngineImages
from firebolt_operator.engine.metrics import EngineMetrics, EngineRecorder, NoEngineRecorder
from firebolt_operator.engine.reconcile import EngineReconciler
from firebolt_operator.engine.scrape_places import ScrapePlaces
from firebolt_operator.engine.surroundings import EngineSettings, Surroundings
from firebolt_operator.engineclass.reconcile import EngineClassReconciler
from firebolt_operator.instance import mapping as instance_mapping
from firebolt_operator.instance.blueprint import BlueprintMemory, InstanceImages
from firebolt_operator.instance.caches import InstanceCaches, instance_caches
from firebolt_operator.instance.metrics import InstanceMetrics, InstanceRecorder, NoInstanceRecorder
from firebolt_operator.instance.reconcile import InstanceReconciler
from firebolt_operator.instance.secret_watches import SecretWatches
from firebolt_operator.instance.surroundings import InstanceSurroundings
from firebolt_operator.runtime.controller import Controller
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.objects import Key
from firebolt_operator.wiring.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Controllers:
    informers: tuple[Informer[object], ...]
    services: tuple[Service, ...]
    controllers: tuple[Controller[Key], ...]


def build_controllers(parts: Parts) -> Controllers:
    settings = parts.settings
    engines = engine_caches(settings.namespaces, settings.watch_label_selector)
    instances = instance_caches(engines.instances, settings.namespaces)
    watches, instance = _instance_controller(parts, instances)
    return Controllers(
        informers=(
            *(parts.informer(cache) for cache in engines.all()),
            *(parts.informer(cache, f"instance {cache.resource.plural}") for cache in instances.own()),
        ),
        services=(watches,),
        controllers=(_engine_controller(parts, engines), instance, _class_controller(parts, engines)),
    )


def _engine_controller(parts: Parts, caches: EngineCaches) -> Controller[Key]:
    settings = parts.settings
    around = Surroundings(
        caches=caches,
        reader=parts.client,
        writer=parts.client,
        events=parts.events(CONTROLLER_ENGINE),
        recorder=_engine_recorder(parts),
        clock=parts.clock,
        settings=EngineSettings(
            images=EngineImages(engine=settings.images.engine, ui=settings.images.ui),
            bounds=parts.bounds,
            drain_settle=settings.drain_settle,
        ),
        scrapes=ScrapePlaces(parts.clock, passes=settings.concurrent_passes),
    )
    queue = parts.queue(CONTROLLER_ENGINE)
    controller = parts.controller(CONTROLLER_ENGINE, "FireboltEngine", queue, EngineReconciler(around).reconcile)
    referring = engine_mapping.EnginesOf(caches.engines)
    controller.watches(caches.engines, engine_mapping.engine_changed)
    controller.watches(caches.instances, referring.instance_changed)
    controller.watches(caches.engine_classes, referring.class_changed)
    controller.watches(caches.pods, referring.pod_changed)
    for cache in caches.children():
        controller.watches(cache, referring.child_changed)
        controller.watches_aside(cache, engine_mapping.aside_child)
    controller.watches_aside(caches.engines, engine_mapping.aside_engine)
    controller.watches_aside(caches.pods, engine_mapping.aside_child)
    controller.watches_aside(caches.instances, referring.aside_instance)
    controller.watches_aside(caches.engine_classes, referring.aside_class)
    return controller


def _class_controller(parts: Parts, caches: EngineCaches) -> Controller[Key]:
    reconciler = EngineClassReconciler(
        classes=caches.engine_classes,
        engines=caches.engines,
        bounds=parts.bounds,
        reader=parts.client,
        writer=parts.client,
        clock=parts.clock,
    )
    queue = parts.queue(CONTROLLER_ENGINE_CLASS)
    controller = parts.controller(CONTROLLER_ENGINE_CLASS, "FireboltEngineClass", queue, reconciler.reconcile)
    controller.watches(caches.engine_classes, engine_mapping.class_changed)
    controller.watches(caches.engines, engine_mapping.class_of_engine)
    controller.watches_aside(caches.engine_classes, engine_mapping.aside_engine)
    return controller


def _instance_controller(parts: Parts, caches: InstanceCaches) -> tuple[SecretWatches, Controller[Key]]:
    images = parts.settings.images
    queue = parts.queue(CONTROLLER_INSTANCE)
    watches = SecretWatches(parts.client, parts.clock, random.Random(), queue.add)
    around = InstanceSurroundings(
        caches=caches,
        secrets=watches,
        reader=parts.client,
        writer=parts.client,
        events=parts.events(CONTROLLER_INSTANCE),
        recorder=_instance_recorder(parts),
        clock=parts.clock,
        blueprints=BlueprintMemory(
            InstanceImages(
                metadata=images.metadata,
                postgres=images.postgres,
                gateway=images.gateway,
                wake_agent=images.wake_agent,
                wake_agent_pull_policy=images.wake_agent_pull_policy,
            )
        ),
        entropy=secrets.token_bytes,
        operator_account=parts.settings.operator_account,
    )
    controller = parts.controller(CONTROLLER_INSTANCE, "FireboltInstance", queue, InstanceReconciler(around).reconcile)
    controller.watches(caches.instances, instance_mapping.instance_changed)
    controller.watches_aside(caches.instances, instance_mapping.aside_instance)
    for cache in (*caches.children,):
        controller.watches(cache, instance_mapping.child_changed)
        controller.watches_aside(cache, instance_mapping.aside_child)
    controller.watches(caches.secrets, instance_mapping.child_changed)
    controller.watches_aside(caches.secrets, instance_mapping.aside_child)
    return watches, controller


def _engine_recorder(parts: Parts) -> EngineRecorder:
    """Without a metrics server nobody would ever read them."""
    return EngineMetrics(parts.metrics.registry) if parts.settings.metrics.bind_address != "0" else NoEngineRecorder()


def _instance_recorder(parts: Parts) -> InstanceRecorder:
    is_served = parts.settings.metrics.bind_address != "0"
    return InstanceMetrics(parts.metrics.registry) if is_served else NoInstanceRecorder()
