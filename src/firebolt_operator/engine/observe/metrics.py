"""What dashboards see of an engine: rewritten at the end of every pass, gone with the engine."""

from datetime import datetime
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.engine.facts import NO_PODS, EngineFacts

LABELS = ("namespace", "name", "firebolt_io_instance")  # `instance` is the scraper's own label
PHASES = tuple(phase for phase in EnginePhase if phase)
CONDITIONS = (
    names.CONDITION_READY,
    names.CONDITION_INSTANCE_READY,
    names.CONDITION_STALLED,
    names.CONDITION_RECONCILING,
)


class EngineRecorder(Protocol):
    def record(self, engine: FireboltEngine, facts: EngineFacts | None, /) -> None: ...
    def reconciled(self, engine: FireboltEngine, now: datetime, /) -> None: ...
    def drain_check_failed(self, engine: FireboltEngine, /) -> None: ...
    def event_lookup_failed(self) -> None: ...
    def forget(self, namespace: str, name: str, /) -> None: ...


class NoEngineRecorder:
    """For processes that serve no metrics."""

    def record(self, engine: FireboltEngine, facts: EngineFacts | None, /) -> None: ...
    def reconciled(self, engine: FireboltEngine, now: datetime, /) -> None: ...
    def drain_check_failed(self, engine: FireboltEngine, /) -> None: ...
    def event_lookup_failed(self) -> None: ...
    def forget(self, namespace: str, name: str, /) -> None: ...


class EngineMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, help_text: str, *labels: str) -> Gauge:
            return Gauge(f"firebolt_engine_{name}", help_text, (*LABELS, *labels), registry=registry)

        self._phase = gauge("status_phase", "1 for the phase the engine is in", "phase")
        self._condition = gauge("status_condition", "1 if the condition is True", "type")
        self._replicas = gauge("spec_replicas", "Nodes that the engine should have")
        self._active = gauge("active_generation", "Generation that serves queries, -1 before the first")
        self._ready = gauge("pods_ready", "Ready pods of the current generation")
        self._total = gauge("pods_total", "Pods of the current generation")
        self._draining = gauge("draining_generation", "Generation that drains, -1 if none")
        self._reconciled = gauge("last_reconciled_timestamp", "When a pass last ended without an error")
        self._drain_errors = Counter(
            "firebolt_engine_drain_check_errors", "Passes whose drain probe failed", LABELS, registry=registry
        )
        # Of all engines together: who it was is in the log, and a diagnosis is worth no series of its own.
        self._lookup_errors = Counter(
            "firebolt_engine_event_lookup_errors", "Events that could not be looked up", registry=registry
        )
        self._seen: dict[tuple[str, str], tuple[str, str, str]] = {}

    def record(self, engine: FireboltEngine, facts: EngineFacts | None, /) -> None:
        labels = self._labels(engine)
        status, pods = engine.status, facts.current.pods if facts else NO_PODS
        for phase in PHASES:
            self._phase.labels(*labels, phase).set(status.phase == phase)
        for kind in CONDITIONS:
            condition = find_condition(status.conditions, kind)
            self._condition.labels(*labels, kind).set(condition is not None and condition.is_true)
        self._replicas.labels(*labels).set(engine.spec.replicas if engine.spec else 0)
        self._active.labels(*labels).set(status.active_generation)
        self._ready.labels(*labels).set(pods.ready)
        self._total.labels(*labels).set(pods.total)
        draining = status.draining_generation
        self._draining.labels(*labels).set(-1 if draining is None else draining)

    def reconciled(self, engine: FireboltEngine, now: datetime, /) -> None:
        self._reconciled.labels(*self._labels(engine)).set(now.timestamp())

    def drain_check_failed(self, engine: FireboltEngine, /) -> None:
        self._drain_errors.labels(*self._labels(engine)).inc()

    def event_lookup_failed(self) -> None:
        self._lookup_errors.inc()

    def forget(self, namespace: str, name: str, /) -> None:
        labels = self._seen.pop((namespace, name), None)
        if labels is not None:
            self._remove(labels)

    def _remove(self, labels: tuple[str, str, str]) -> None:
        """By whole labels: a part of them would be compared with every series of every engine."""
        for phase in PHASES:
            self._phase.remove(*labels, phase)
        for kind in CONDITIONS:
            self._condition.remove(*labels, kind)
        every = (self._replicas, self._active, self._ready, self._total, self._draining, self._reconciled)
        for metric in (*every, self._drain_errors):
            metric.remove(*labels)

    def _labels(self, engine: FireboltEngine) -> tuple[str, str, str]:
        metadata = engine.metadata
        key = metadata.namespace, metadata.name
        labels = (*key, engine.spec.instance_ref if engine.spec else "")
        before = self._seen.get(key, labels)
        if before != labels:
            self._remove(before)
        self._seen[key] = labels
        return labels
