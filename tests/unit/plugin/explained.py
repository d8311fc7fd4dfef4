"""Builders for explanations: they fill in what a test does not care about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from firebolt_operator.refs import Manifest
from kubectl_firebolt.explain.decide.explanation import explain
from kubectl_firebolt.explain.finding import Explanation
from kubectl_firebolt.explain.seen import Kind, OperatorSeen, Seen
from tests.support.plugin import a_condition, a_resting_status, an_engine

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
AT_WORK = (OperatorSeen(holder="operator-0", renewed_at=NOW - timedelta(seconds=2)),)
AWAY = (OperatorSeen(holder="operator-0", renewed_at=NOW - timedelta(minutes=10)),)


def explained(subject: Manifest | None, **fields: Any) -> Explanation:
    name = subject["metadata"]["name"] if subject else "e1"
    defaults: dict[str, Any] = {"subject": subject, "kind": Kind.ENGINE, "name": name, "now": NOW, "operators": AT_WORK}
    return explain(Seen(**(defaults | fields)))


def an_unready_engine(reason: str, message: str = "words", *, phase: str = "creating", **fields: Any) -> Manifest:
    conditions = [a_condition("Ready", "False", reason, message), *fields.pop("conditions", [])]
    spec = fields.pop("spec", {})
    return an_engine(spec=spec, status=a_resting_status(phase=phase, conditions=conditions, **fields))


def stalled(reason: str, message: str = "words") -> Manifest:
    return a_condition("Stalled", "True", reason, message)


def an_instance(*conditions: Manifest, phase: str = "Provisioning") -> Manifest:
    status = {"phase": phase, "conditions": list(conditions), "observedGeneration": 1}
    metadata = {"name": "i1", "namespace": "ns", "generation": 1}
    return {"kind": "FireboltInstance", "metadata": metadata, "spec": {}, "status": status}


def a_class(*conditions: Manifest) -> Manifest:
    metadata = {"name": "small", "namespace": "ns", "generation": 1}
    status = {"conditions": list(conditions), "observedGeneration": 1}
    return {"kind": "FireboltEngineClass", "metadata": metadata, "spec": {}, "status": status}


def a_pod(name: str = "e1-g0-0", *, is_ready: bool = False, generation: int = 0, **status: Any) -> Manifest:
    conditions = [{"type": "Ready", "status": "True" if is_ready else "False"}, *status.pop("conditions", [])]
    labels = {"firebolt.io/engine": "e1", "firebolt.io/generation": str(generation)}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ns", "labels": labels},
        "status": {"phase": "Running", "conditions": conditions, **status},
    }


def a_container(**state: Any) -> Manifest:
    return {"name": "engine", "image": "engine:2", "ready": False} | state


def leaving(manifest: Manifest, *finalizers: str, since: timedelta = timedelta(seconds=5)) -> Manifest:
    stamp = (NOW - since).strftime("%Y-%m-%dT%H:%M:%SZ")
    metadata = manifest["metadata"] | {"deletionTimestamp": stamp, "finalizers": list(finalizers)}
    return manifest | {"metadata": metadata}
