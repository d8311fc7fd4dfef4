"""What dashboards see of an engine: rewritten at the end of every pass, gone with the engine."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Protocol

import msgspec
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.engine.facts import NO_PODS, EngineFacts

LABELS = ("namespace", "name", "firebolt_io_instance")  # `instance` is the scraper's own label
Labels = tuple[str, str, str]
Series = tuple[tuple[str, ...], float]
"""The values of a family's further labels, and the value itself."""
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


class _Told(msgspec.Struct, gc=False):
    """All series of one engine. Objects of the metrics library would take thirty times the memory."""

    labels: Labels
    phase: str = ""
    conditions: tuple[bool, ...] | None = None  # None: there was no pass yet that came to anything
    replicas: int = 0
    active: int = 0
    ready: int = 0
    total: int = 0
    draining: int = 0
    reconciled_at: float | None = None


class EngineMetrics:
    """Keeps what was recorded, and makes series of it when somebody asks."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._told: dict[tuple[str, str], _Told] = {}
        self._drain_errors = Counter(
            "firebolt_engine_drain_check_errors", "Passes whose drain probe failed", LABELS, registry=registry
        )
        # Of all engines together: who it was is in the log, and a diagnosis is worth no series of its own.
        self._lookup_errors = Counter(
            "firebolt_engine_event_lookup_errors", "Events that could not be looked up", registry=registry
        )
        registry.register(self)

    def record(self, engine: FireboltEngine, facts: EngineFacts | None, /) -> None:
        told = self._of(engine)
        status, pods = engine.status, facts.current.pods if facts else NO_PODS
        draining = status.draining_generation
        found = (find_condition(status.conditions, kind) for kind in CONDITIONS)
        told.phase = status.phase
        told.conditions = tuple(each is not None and each.is_true for each in found)
        told.replicas = engine.spec.replicas if engine.spec else 0
        told.active = status.active_generation
        told.ready, told.total = pods.ready, pods.total
        told.draining = -1 if draining is None else draining

    def reconciled(self, engine: FireboltEngine, now: datetime, /) -> None:
        self._of(engine).reconciled_at = now.timestamp()

    def drain_check_failed(self, engine: FireboltEngine, /) -> None:
        self._drain_errors.labels(*self._of(engine).labels).inc()

    def event_lookup_failed(self) -> None:
        self._lookup_errors.inc()

    def forget(self, namespace: str, name: str, /) -> None:
        told = self._told.pop((namespace, name), None)
        if told is not None:
            # By whole labels: a part of them would be compared with every series of every engine.
            self._drain_errors.remove(*told.labels)

    def describe(self) -> Iterator[Metric]:
        """For the registry, which wants to know the names."""
        yield from (family for family, _ in _families())

    def collect(self) -> Iterator[Metric]:
        told = list(self._told.values())
        for family, series in _families():
            for each in told:
                for values, value in series(each):
                    family.add_metric((*each.labels, *values), value)
            yield family

    def _of(self, engine: FireboltEngine) -> _Told:
        key = engine.metadata.namespace, engine.metadata.name
        instance = engine.spec.instance_ref if engine.spec else ""
        told = self._told.get(key)
        if told is None or told.labels[2] != instance:
            self.forget(*key)
            told = self._told[key] = _Told((*key, instance))
        return told


def _phases(told: _Told) -> Iterator[Series]:
    return (((phase,), told.phase == phase) for phase in PHASES) if told.conditions is not None else iter(())


def _conditions(told: _Told) -> Iterator[Series]:
    return (((kind,), is_true) for kind, is_true in zip(CONDITIONS, told.conditions or (), strict=False))


def _number(name: str) -> Callable[[_Told], Iterator[Series]]:
    def series(told: _Told) -> Iterator[Series]:
        if told.conditions is not None:
            yield (), getattr(told, name)

    return series


def _reconciled(told: _Told) -> Iterator[Series]:
    if told.reconciled_at is not None:
        yield (), told.reconciled_at


def _families() -> Iterator[tuple[GaugeMetricFamily, Callable[[_Told], Iterator[Series]]]]:
    def gauge(name: str, help_text: str, *labels: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(f"firebolt_engine_{name}", help_text, labels=(*LABELS, *labels))

    yield gauge("status_phase", "1 for the phase the engine is in", "phase"), _phases
    yield gauge("status_condition", "1 if the condition is True", "type"), _conditions
    yield gauge("spec_replicas", "Nodes that the engine should have"), _number("replicas")
    yield gauge("active_generation", "Generation that serves queries, -1 before the first"), _number("active")
    yield gauge("pods_ready", "Ready pods of the current generation"), _number("ready")
    yield gauge("pods_total", "Pods of the current generation"), _number("total")
    yield gauge("draining_generation", "Generation that drains, -1 if none"), _number("draining")
    yield gauge("last_reconciled_timestamp", "When a pass last ended without an error"), _reconciled
