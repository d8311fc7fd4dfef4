"""What dashboards see of an instance: rewritten at the end of every pass, gone with the instance."""

from datetime import datetime
from typing import Protocol

from prometheus_client import CollectorRegistry, Gauge

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import InstancePhase
from firebolt_operator.instance.observe.signing_key_metrics import SigningKeyMetrics
from firebolt_operator.runtime.clock import Clock

LABELS = ("namespace", "name")
PHASES = tuple(phase for phase in InstancePhase if phase)
CONDITIONS = (
    names.CONDITION_READY,
    names.CONDITION_STALLED,
    names.CONDITION_RECONCILING,
    names.CONDITION_METADATA_READY,
    names.CONDITION_GATEWAY_READY,
    names.CONDITION_AUTH_READY,
    names.CONDITION_ENGINE_TLS_READY,
    names.CONDITION_GATEWAY_TLS_READY,
)


class InstanceRecorder(Protocol):
    def record(self, instance: FireboltInstance, /) -> None: ...
    def reconciled(self, instance: FireboltInstance, now: datetime, /) -> None: ...
    def forget(self, namespace: str, name: str, /) -> None: ...


class NoInstanceRecorder:
    """For processes that serve no metrics."""

    def record(self, instance: FireboltInstance, /) -> None: ...
    def reconciled(self, instance: FireboltInstance, now: datetime, /) -> None: ...
    def forget(self, namespace: str, name: str, /) -> None: ...


class InstanceMetrics:
    def __init__(self, registry: CollectorRegistry, clock: Clock) -> None:
        def gauge(name: str, help_text: str, *labels: str) -> Gauge:
            return Gauge(f"firebolt_instance_{name}", help_text, (*LABELS, *labels), registry=registry)

        self._phase = gauge("status_phase", "1 for the phase the instance is in", "phase")
        self._condition = gauge("status_condition", "1 if the condition is True", "type")
        self._info = gauge("info", "Always 1; labels tell the id and where the database is", "id", "postgres_mode")
        self._reconciled = gauge("last_reconciled_timestamp", "When a pass last ended without an error")
        self._signing_keys = SigningKeyMetrics(registry, LABELS, clock.now)
        self._infos: dict[tuple[str, str], tuple[str, str]] = {}

    def record(self, instance: FireboltInstance, /) -> None:
        labels = (instance.metadata.namespace, instance.metadata.name)
        for phase in PHASES:
            self._phase.labels(*labels, phase).set(instance.status.phase == phase.value)
        for kind in CONDITIONS:
            condition = find_condition(instance.status.conditions, kind)
            self._condition.labels(*labels, kind).set(condition is not None and condition.is_true)
        self._signing_keys.record(labels, instance.status.auth)
        self._record_info(labels, instance)

    def reconciled(self, instance: FireboltInstance, now: datetime, /) -> None:
        self._reconciled.labels(instance.metadata.namespace, instance.metadata.name).set(now.timestamp())

    def forget(self, namespace: str, name: str, /) -> None:
        info = self._infos.pop((namespace, name), None)
        if info is None:
            return
        # By whole labels: a part of them would be compared with every series of every instance.
        for phase in PHASES:
            self._phase.remove(namespace, name, phase)
        for kind in CONDITIONS:
            self._condition.remove(namespace, name, kind)
        self._info.remove(namespace, name, *info)
        self._reconciled.remove(namespace, name)
        self._signing_keys.forget((namespace, name))

    def _record_info(self, labels: tuple[str, str], instance: FireboltInstance) -> None:
        mode = "internal" if instance.spec.metadata.postgres is None else "external"
        now, before = (instance.spec.id, mode), self._infos.get(labels)
        if before is not None and before != now:
            self._info.remove(*labels, *before)
        self._infos[labels] = now
        self._info.labels(*labels, *now).set(1)
