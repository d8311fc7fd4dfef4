"""Which engines does a change concern, and how urgently? What no decision reads concerns nobody."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import UNINITIALISED, FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.auth.decide.signing_keys import rendered_keys
from firebolt_operator.engine.decide.gates import instance_gate
from firebolt_operator.engine.views import Child, PodView
from firebolt_operator.reconciling.indexes import BY_CLASS, BY_CLUSTER_CLASS, BY_INSTANCE, BY_NAMESPACE, term
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Aside, Key
from firebolt_operator.runtime.work_queue import Priority


def engine_changed(old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
    """Not its status: only we write that, and every pass looks again by itself."""
    engine = new or old
    if engine is None or (old is not None and new is not None and _without_status(old) == _without_status(new)):
        return ()
    priority = Priority.URGENT if _is_woken(old, new) else Priority.EVENT
    return (((engine.metadata.namespace, engine.metadata.name), priority),)


def _is_woken(old: FireboltEngine | None, new: FireboltEngine | None) -> bool:
    """Somebody waits for an answer right now: it was asked for, or gets the nodes that it was asked for."""
    before = old.metadata.annotations.get(names.ANNOTATION_WAKE_REQUESTED) if old else None
    after = new.metadata.annotations.get(names.ANNOTATION_WAKE_REQUESTED) if new else None
    is_asked_for = after is not None and before != after
    return is_asked_for or (old is not None and new is not None and _is_stopped(old) and not _is_stopped(new))


def _is_stopped(engine: FireboltEngine) -> bool:
    return engine.spec is not None and engine.spec.replicas == 0


def _without_status(engine: FireboltEngine) -> FireboltEngine:
    metadata = msgspec.structs.replace(engine.metadata, resource_version="")
    return msgspec.structs.replace(engine, metadata=metadata, status=UNINITIALISED)


def child_changed(old: Child | None, new: Child | None) -> Requests:
    """A StatefulSet's own counting is left out: its pods tell the same, and sooner."""
    child = new or old
    if child is None or not child.engine:
        return ()
    if old is not None and new is not None and _what_counts(old) == _what_counts(new):
        return ()
    return (((child.metadata.namespace, child.engine), Priority.EVENT),)


def _what_counts(child: Child) -> tuple[object, ...]:
    metadata = child.metadata
    return (
        metadata.uid,
        metadata.labels,
        metadata.annotations,
        metadata.owner_references,
        metadata.finalizers,
        metadata.deletion_timestamp,
        child.spec,
        child.template,
        child.data,
        child.ready_generation,
        child.issued and replace(child.issued, version=""),
    )


def pod_changed(old: PodView | None, new: PodView | None) -> Requests:
    """A pod that turns ready may be the last one that a switch waits for: that pass goes before all others."""
    pod = new or old
    if pod is None or not pod.engine or (old is not None and new is not None and not _matters(old, new)):
        return ()
    turned_ready = new is not None and new.is_ready and not (old is not None and old.is_ready)
    return (((pod.namespace, pod.engine), Priority.URGENT if turned_ready else Priority.EVENT),)


def _matters(old: PodView, new: PodView) -> bool:
    """A pod on its way to ready decides nothing: its address, its start and its doubts are seen when the pass looks."""
    has_stopped = old.is_running and not new.is_running
    return has_stopped or _standing(old) != _standing(new)


def _standing(pod: PodView) -> tuple[object, ...]:
    return pod.owner_uid, pod.generation, pod.is_ready, pod.is_deleting, pod.trouble


class _Labelled(Protocol):
    @property
    def metadata(self) -> ObjectMeta: ...


class EnginesOf:
    """Finds the engines that refer to something, and those that something still matters to."""

    def __init__(self, engines: Cache[FireboltEngine]) -> None:
        self._engines = engines

    def pod_changed(self, old: PodView | None, new: PodView | None) -> Requests:
        pod = new or old
        if pod is None or self._is_past((pod.namespace, pod.engine), pod.generation):
            return ()
        return pod_changed(old, new)

    def child_changed(self, old: Child | None, new: Child | None) -> Requests:
        child = new or old
        if child is None:
            return ()
        is_leaving = new is None or new.metadata.is_deleting
        if is_leaving and self._is_past((child.metadata.namespace, child.engine), child.generation):
            return ()
        return child_changed(old, new)

    def _is_past(self, key: Key, generation: int | None) -> bool:
        """A generation that is done with, on its way out. One that the status has not heard of yet is none of these."""
        engine = self._engines.get(key)
        if engine is None or generation is None:
            return False
        status = engine.status
        wanted = (status.current_generation, status.active_generation, status.draining_generation)
        return generation < status.current_generation and generation not in wanted

    def instance_changed(self, old: FireboltInstance | None, new: FireboltInstance | None) -> Requests:
        instance = new or old
        if instance is None or (old is not None and new is not None and _gate(old) == _gate(new)):
            return ()
        return self._keys(BY_INSTANCE, instance.metadata.namespace, instance.metadata.name)

    def bundle_changed(self, old: _Labelled | None, new: _Labelled | None) -> Requests:
        """What the gateway trusts: those that are about to switch may wait for it."""
        secret = new or old
        instance = secret.metadata.labels.get(names.LABEL_INSTANCE, "") if secret else ""
        if secret is None or secret.metadata.name != names.engine_ca_bundle_name(instance):
            return ()
        engines = self._engines.by_index(BY_INSTANCE, term(secret.metadata.namespace, instance))
        creating = [engine.metadata for engine in engines if engine.status.phase == EnginePhase.CREATING]
        return [((metadata.namespace, metadata.name), Priority.EVENT) for metadata in creating]

    def of_instance(self, instance: Key) -> Iterator[Key]:
        """Whom a change of what the instance refers to concerns."""
        return (key for key, _ in self._keys(BY_INSTANCE, *instance))

    def class_changed(self, old: FireboltEngineClass | None, new: FireboltEngineClass | None) -> Requests:
        engine_class = new or old
        if engine_class is None or (old is not None and new is not None and _class_facts(old) == _class_facts(new)):
            return ()
        return self._keys(BY_CLASS, engine_class.metadata.namespace, engine_class.metadata.name)

    def cluster_class_changed(
        self, old: ClusterFireboltEngineClass | None, new: ClusterFireboltEngineClass | None
    ) -> Requests:
        """Whoever has a class of that name in the own namespace finds that nothing has changed."""
        found = new or old
        if found is None or (old is not None and new is not None and old.spec == new.spec):
            return ()
        return self._found(BY_CLUSTER_CLASS, found.metadata.name)

    def preset_changed(self, old: FireboltEnginePreset | None, new: FireboltEnginePreset | None) -> Requests:
        preset = new or old
        if preset is None or preset.metadata.name != names.PRESET_NAME:
            return ()
        if old is not None and new is not None and _class_facts(old) == _class_facts(new):
            return ()
        return self._found(BY_NAMESPACE, preset.metadata.namespace)

    def aside_instance(self, aside: Aside) -> Iterable[Key]:
        return self.of_instance(aside.header.key)

    def aside_class(self, aside: Aside) -> Iterable[Key]:
        return (key for key, _ in self._keys(BY_CLASS, *aside.header.key))

    def aside_cluster_class(self, aside: Aside) -> Iterable[Key]:
        return (key for key, _ in self._found(BY_CLUSTER_CLASS, aside.header.metadata.name))

    def aside_preset(self, aside: Aside) -> Iterable[Key]:
        return (key for key, _ in self._found(BY_NAMESPACE, aside.header.metadata.namespace))

    def _keys(self, index: str, namespace: str, name: str) -> Iterator[tuple[Key, Priority]]:
        return self._found(index, term(namespace, name))

    def _found(self, index: str, value: str) -> Iterator[tuple[Key, Priority]]:
        for engine in self._engines.by_index(index, value):
            yield (engine.metadata.namespace, engine.metadata.name), Priority.EVENT


def _gate(instance: FireboltInstance) -> tuple[object, ...]:
    ref = Ref(FIREBOLT_INSTANCES, instance.metadata.namespace, instance.metadata.name)
    keys = rendered_keys(instance.status.auth)
    listener, trusted = instance.spec.tls and instance.spec.tls.engine, instance.status.rolled_engine_trust_cas
    secured = (instance.spec.auth, keys, listener, instance.status.engine_tls, trusted)
    return instance_gate(ref, instance), instance.spec.metric_scrape_mode, *secured


def _class_facts(engine_class: FireboltEngineClass | FireboltEnginePreset) -> tuple[object, ...]:
    ready = find_condition(engine_class.status.conditions, names.CONDITION_READY)
    return engine_class.spec, None if ready is None else (ready.status, ready.reason, ready.message)


def aside_engine(aside: Aside) -> Iterable[Key]:
    return (aside.header.key,)


def aside_child(aside: Aside) -> Iterable[Key]:
    """Of an engine's child or pod that cannot be decoded, its labels can."""
    engine = aside.labels.get(names.LABEL_ENGINE, "")
    return ((aside.header.metadata.namespace, engine),) if engine else ()
