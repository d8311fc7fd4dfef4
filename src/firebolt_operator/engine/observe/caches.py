"""The caches an engine pass reads, and how objects are found in them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import (
    CERTIFICATES,
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.api.serialise import (
    parse_cluster_engine_class,
    parse_engine,
    parse_engine_class,
    parse_engine_preset,
    parse_instance,
)
from firebolt_operator.engine.listener_views import decode_listener_certificate, decode_listener_secret
from firebolt_operator.engine.views import (
    Child,
    PodView,
    decode_child,
    decode_config_map,
    decode_pod,
    decode_statefulset,
)
from firebolt_operator.kube.ports import Reader
from firebolt_operator.reconciling.indexes import (
    BY_CAUSE,
    BY_CLASS,
    BY_CLUSTER_CLASS,
    BY_ENGINE,
    BY_INSTANCE,
    BY_NAMESPACE,
    term,
)
from firebolt_operator.reconciling.inheritance import Inheritance
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage

# Of an object of our kinds, as JSON. They are kept whole, and what is made of a larger one would not fit into etcd.
MOST_BYTES: Final = 512 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCaches:
    engines: Cache[FireboltEngine]
    engine_classes: Cache[FireboltEngineClass]
    presets: Cache[FireboltEnginePreset]
    cluster_classes: Cache[ClusterFireboltEngineClass]
    instances: Cache[FireboltInstance]
    statefulsets: Cache[Child]
    services: Cache[Child]
    config_maps: Cache[Child]
    disruption_budgets: Cache[Child]
    certificates: Cache[Child]  # means nothing while the cluster has no cert-manager
    secrets: Cache[Child]  # that cert-manager wrote for them
    pods: Cache[PodView]

    def all(self) -> Iterator[Cache[Any]]:
        """But for kinds that not every cluster has, or that not every operator may follow."""
        found = (getattr(self, field.name) for field in fields(self))
        return (cache for cache in found if cache is not self.certificates and cache is not self.cluster_classes)

    def children(self) -> tuple[Cache[Child], ...]:
        """In the order in which a generation is taken down: pods go with their StatefulSet first.

        A Secret goes after its Certificate, for which it would be written again.
        """
        return (
            self.statefulsets,
            self.services,
            self.config_maps,
            self.disruption_budgets,
            self.certificates,
            self.secrets,
        )

    def inheritance(self, reader: Reader) -> Inheritance:
        return Inheritance(
            engine_classes=self.engine_classes,
            cluster_classes=self.cluster_classes,
            presets=self.presets,
            reader=reader,
        )

    def child(self, ref: Ref) -> Child | None:
        return self.child_cache(ref.resource).known((ref.namespace, ref.name))

    def child_cache(self, resource: Resource) -> Cache[Child]:
        return next(cache for cache in self.children() if cache.resource == resource)


def engine_caches(namespaces: tuple[str, ...], label_selector: str) -> EngineCaches:
    """Ours by the watch selector; children by our label, so that foreign objects cost nothing."""
    ours = Coverage(namespaces=namespaces, labels=label_selector)
    return EngineCaches(
        engines=Cache(
            FIREBOLT_ENGINES,
            parse_engine,
            coverage=ours,
            indexes={
                BY_INSTANCE: _instance_of,
                BY_CLASS: _class_of,
                BY_CLUSTER_CLASS: _class_name,
                BY_NAMESPACE: lambda engine: [engine.metadata.namespace],
                BY_CAUSE: _cause_of,
            },
            most_bytes=MOST_BYTES,
        ),
        engine_classes=Cache(FIREBOLT_ENGINE_CLASSES, parse_engine_class, coverage=ours, most_bytes=MOST_BYTES),
        presets=Cache(FIREBOLT_ENGINE_PRESETS, parse_engine_preset, coverage=ours, most_bytes=MOST_BYTES),
        cluster_classes=Cache(
            CLUSTER_FIREBOLT_ENGINE_CLASSES,
            parse_cluster_engine_class,
            coverage=Coverage(labels=label_selector),
            most_bytes=MOST_BYTES,
        ),
        instances=Cache(FIREBOLT_INSTANCES, parse_instance, coverage=ours, most_bytes=MOST_BYTES),
        statefulsets=_child_cache(STATEFULSETS, decode_statefulset, namespaces),
        services=_child_cache(SERVICES, decode_child, namespaces),
        config_maps=_child_cache(CONFIG_MAPS, decode_config_map, namespaces),
        disruption_budgets=_child_cache(POD_DISRUPTION_BUDGETS, decode_child, namespaces),
        certificates=_child_cache(CERTIFICATES, decode_listener_certificate, namespaces),
        secrets=_child_cache(SECRETS, decode_listener_secret, namespaces),
        pods=Cache(
            PODS,
            decode_pod,
            coverage=Coverage(namespaces=namespaces, labels=LABEL_ENGINE),
            indexes={BY_ENGINE: lambda pod: [term(pod.namespace, pod.engine)]},
        ),
    )


def _child_cache(resource: Resource, decode: Callable[[bytes], Child], namespaces: tuple[str, ...]) -> Cache[Child]:
    return Cache(
        resource,
        decode,
        coverage=Coverage(namespaces=namespaces, labels=LABEL_ENGINE),
        indexes={BY_ENGINE: lambda child: [term(child.metadata.namespace, child.engine)]},
    )


def _instance_of(engine: FireboltEngine) -> list[str]:
    return [term(engine.metadata.namespace, engine.spec.instance_ref)] if engine.spec else []


def _cause_of(engine: FireboltEngine) -> list[str]:
    return [engine.status.rollout_cause] if engine.status.rollout_cause else []


def _class_name(engine: FireboltEngine) -> list[str]:
    return [engine.spec.engine_class_ref] if engine.spec and engine.spec.engine_class_ref else []


def _class_of(engine: FireboltEngine) -> list[str]:
    if engine.spec is None or not engine.spec.engine_class_ref:
        return []
    return [term(engine.metadata.namespace, engine.spec.engine_class_ref)]
