"""The controllers: what each of them watches, and with whom it shares a cache."""

import random
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from firebolt_operator.api.names import CONTROLLER_ENGINE, CONTROLLER_INSTANCE
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
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.identity import IdentityStep
from firebolt_operator.instance.lifecycle import InstanceReconciler
from firebolt_operator.instance.observe import watches as instance_watches
from firebolt_operator.instance.observe.bound_images import BoundImages
from firebolt_operator.instance.observe.caches import InstanceCaches, instance_caches
from firebolt_operator.instance.observe.image_watches import ImageWatches
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
from firebolt_operator.wiring.encryption import Encryption, build_encryption
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.shared import shared_controllers
from firebolt_operator.wiring.transport_security import TransportSecurity, build_transport_security


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
    security, watches, instance = _instance_controller(factory, instances, engines, authentication)
    encryption = build_encryption(factory, engines)
    lane, engine = _engine_controller(factory, engines, authentication, encryption)
    engine.watches(instances.bundles, engine_watches.EnginesOf(engines.engines).bundle_changed)
    return Controllers(
        informers=(
            *(factory.informer(cache) for cache in engines.all()),
            *(factory.informer(cache, f"instance {cache.resource.plural}") for cache in instances.children),
            factory.informer(instances.secrets, "instance secrets"),
            factory.informer(instances.bundles, "instance CA bundles"),
            factory.informer(security.generations, "generation secrets"),
        ),
        services=(
            watches,
            lane,
            _cluster_classes(factory, engines),
            *authentication.services,
            *security.services,
            encryption.certificates,
        ),
        controllers=(engine, instance, *shared_controllers(factory, engines)),
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
    factory: ControllerFactory, caches: EngineCaches, authentication: Authentication, encryption: Encryption
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
        listeners=encryption.listeners,
    )
    reconciler = EngineReconciler(dependencies)
    passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)
    controller = factory.controller(CONTROLLER_ENGINE, "FireboltEngine", queue, passes.run)
    referring = engine_watches.EnginesOf(caches.engines)
    controller.watches(caches.engines, engine_watches.engine_changed)
    controller.watches(caches.engines, dependencies.rolling.changed)
    controller.watches(caches.instances, referring.instance_changed)
    controller.watches(caches.engine_classes, referring.class_changed)
    controller.watches(caches.cluster_classes, referring.cluster_class_changed)
    controller.watches(caches.presets, referring.preset_changed)
    controller.watches(caches.pods, referring.pod_changed)
    for cache in caches.children():
        controller.watches(cache, referring.child_changed)
        controller.watches_aside(cache, engine_watches.aside_child)
    controller.watches_aside(caches.engines, engine_watches.aside_engine)
    controller.watches_aside(caches.pods, engine_watches.aside_child)
    controller.watches_aside(caches.instances, referring.aside_instance)
    controller.watches_aside(caches.engine_classes, referring.aside_class)
    controller.watches_aside(caches.cluster_classes, referring.aside_cluster_class)
    controller.watches_aside(caches.presets, referring.aside_preset)
    authentication.told.append(lambda instance: _add_all(queue, referring.of_instance(instance)))
    encryption.whenever_cert_manager_turns(caches.engines, queue.add)
    return lane, controller


def _add_all(queue: WorkQueue[Key], keys: Iterable[Key]) -> None:
    for key in keys:
        queue.add(key)


def _cluster_classes(factory: ControllerFactory, caches: EngineCaches) -> Service:
    """As a service: nobody waits for it, and no namespace depends on it. Engines ask for a class that is not known."""
    cache = caches.cluster_classes
    factory.client.add_observer(cache)
    informer = Informer(cache, factory.client, factory.clock, random.Random())
    factory.cache_metrics.shows(informer.name, cache)
    factory.cache_metrics.follows(informer.name, informer)
    return informer


def _instances_follow_engines(instance: Controller[Key], engines: EngineCaches, security: TransportSecurity) -> None:
    """Those with TLS: whom their gateways trust, and how they speak to engines, follows from generations."""
    followed = instance_watches.TLSFleet(engines.engines, engines.instances)
    instance.watches(engines.engines, followed.engine_changed)
    instance.watches(security.generations, followed.secret_changed)


def _instance_controller(
    factory: ControllerFactory, caches: InstanceCaches, engines: EngineCaches, authentication: Authentication
) -> tuple[TransportSecurity, SecretWatches[SecretView], Controller[Key]]:
    images = factory.settings.images
    queue = factory.queue(CONTROLLER_INSTANCE)
    security = build_transport_security(factory, engines, authentication.certificates, queue.add)
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
        identity=_identity(factory, engines),
        tls=security.step,
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
    for cache in caches.applied:
        controller.watches(cache, instance_watches.child_changed)
        controller.watches_aside(cache, instance_watches.aside_child)
    controller.watches(caches.secrets, instance_watches.child_changed)
    controller.watches_aside(caches.secrets, instance_watches.aside_child)
    controller.watches(authentication.certificates.cache, instance_watches.certificate_changed)
    controller.watches_aside(authentication.certificates.cache, instance_watches.aside_child)
    waiting = ImageWatches(engines.engines, caches.instances)
    controller.watches(engines.engines, waiting.engine_changed)
    controller.watches(engines.engine_classes, waiting.class_changed)
    controller.watches(engines.cluster_classes, waiting.cluster_class_changed)
    controller.watches(engines.presets, waiting.preset_changed)
    authentication.told.append(queue.add)
    authentication.whenever_cert_manager_turns(caches.instances, queue.add)
    _instances_follow_engines(controller, engines, security)
    return security, watches, controller


def _identity(factory: ControllerFactory, engines: EngineCaches) -> IdentityStep:
    images = factory.settings.images
    bound = BoundImages(
        engines=engines.engines,
        inheritance=engines.inheritance(factory.client),
        reader=factory.client,
        default_image=images.engine,
    )
    return IdentityStep(images=bound, metadata_default=images.metadata, writer=factory.client)


def _engine_recorder(factory: ControllerFactory) -> EngineRecorder:
    """Without a metrics server nobody would ever read them."""
    return (
        EngineMetrics(factory.metrics.registry) if factory.settings.metrics.bind_address != "0" else NoEngineRecorder()
    )


def _instance_recorder(factory: ControllerFactory) -> InstanceRecorder:
    is_served = factory.settings.metrics.bind_address != "0"
    return InstanceMetrics(factory.metrics.registry, factory.clock) if is_served else NoInstanceRecorder()
