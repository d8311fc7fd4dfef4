"""Builders for engine tests: they fill in what a test does not care about."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineSpec, EngineStatus, FireboltEngine
from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.api.resources import CERTIFICATES, CONFIG_MAPS, POD_DISRUPTION_BUDGETS, SERVICES, STATEFULSETS
from firebolt_operator.engine.decide.draining import DrainRules
from firebolt_operator.engine.facts import ABSENT, EngineFacts, GenerationFacts, PodCount
from firebolt_operator.engine.views import Child, PodView
from firebolt_operator.refs import Manifest, Resource

NOON = datetime(2026, 4, 29, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
UID = "engine-uid"


def a_spec(**fields: Any) -> EngineSpec:
    defaults: dict[str, Any] = {"instance_ref": "inst", "replicas": 2}
    return EngineSpec(**(defaults | fields))


def a_status(**fields: Any) -> EngineStatus:
    defaults: dict[str, Any] = {"current_generation": 0, "active_generation": 0, "phase": "stable"}
    return EngineStatus(**(defaults | fields))


def an_engine(**fields: Any) -> FireboltEngine:
    metadata = ObjectMeta(
        name="eng", namespace="ns", uid=UID, resource_version="7", generation=3, finalizers=[names.FINALIZER_ENGINE]
    )
    defaults: dict[str, Any] = {"metadata": metadata, "spec": a_spec(), "status": a_status()}
    return FireboltEngine(**(defaults | fields))


def a_child(name: str, generation: int | None = 0, **fields: Any) -> Child:
    labels = {names.LABEL_ENGINE: "eng"}
    if generation is not None:
        labels[names.LABEL_GENERATION] = str(generation)
    owner = OwnerReference(kind="FireboltEngine", name="eng", uid=fields.pop("owner", UID), controller=True)
    metadata = ObjectMeta(
        name=name,
        namespace="ns",
        uid=fields.pop("uid", f"uid-{name}"),
        resource_version="8",
        labels=labels,
        owner_references=[owner],
        deletion_timestamp=NOON if fields.pop("deleting", False) else None,
        creation_timestamp=NOON - timedelta(hours=1),
        annotations=fields.pop("annotations", {}),
    )
    return Child(metadata=metadata, **fields)


def a_generation(
    generation: int = 0, *, replicas: int = 2, total: int | None = None, ready: int | None = None, **fields: Any
) -> GenerationFacts:
    total = replicas if total is None else total
    spec = {"replicas": replicas, "updateStrategy": {"type": "OnDelete"}}
    defaults: dict[str, Any] = {
        "statefulset": a_child(names.statefulset_name("eng", generation), generation, spec=spec),
        "config_map": a_child(names.config_map_name("eng", generation), generation),
        "headless_service": a_child(names.headless_service_name("eng", generation), generation),
        "pods": PodCount(total=total, ready=total if ready is None else ready),
        "running_pods": tuple(a_pod(f"eng-g{generation}-{index}", generation) for index in range(total)),
    }
    return GenerationFacts(**(defaults | fields))


def a_service(generation: int) -> Child:
    return a_child("eng-service", None, spec={"selector": _selector(generation)})


def _selector(generation: int) -> dict[str, str]:
    return {names.LABEL_ENGINE: "eng", names.LABEL_GENERATION: str(generation)}


def some_facts(**fields: Any) -> EngineFacts:
    current = fields.get("current", a_generation(0))
    service_generation = fields.pop("service_generation", 0)
    defaults: dict[str, Any] = {
        "current": current,
        "active": current,
        "draining": ABSENT,
        "service": a_service(service_generation) if service_generation >= 0 else None,
    }
    return EngineFacts(**(defaults | fields))


def a_pod(name: str, generation: int = 0, **fields: Any) -> PodView:
    defaults: dict[str, Any] = {
        "namespace": "ns",
        "name": name,
        "engine": "eng",
        "generation": generation,
        "owner_uid": f"uid-eng-g{generation}",
        "is_running": True,
        "is_ready": True,
        "is_deleting": False,
        "ip": "10.0.0.1",
        "trouble": "",
    }
    return PodView(**(defaults | fields))


def drain_rules(**fields: Any) -> DrainRules:
    defaults: dict[str, Any] = {
        "is_skipped": False,
        "interval": timedelta(seconds=5),
        "timeout": None,
        "settle": timedelta(seconds=35),
    }
    return DrainRules(**(defaults | fields))


class NamedBlueprint:
    """Renders names instead of objects; a StatefulSet drifts when a test says so."""

    def __init__(self, drift: str | None = None) -> None:
        self._drift = drift

    def certificates(self, generation: int) -> tuple[Manifest, ...]:
        return (_named(CERTIFICATES, names.engine_tls_name("eng", generation)),)

    def config_map(self, generation: int) -> Manifest:
        return _named(CONFIG_MAPS, names.config_map_name("eng", generation))

    def headless_service(self, generation: int) -> Manifest:
        return _named(SERVICES, names.headless_service_name("eng", generation))

    def statefulset(self, generation: int) -> Manifest:
        return _named(STATEFULSETS, names.statefulset_name("eng", generation))

    def service(self, generation: int) -> Manifest:
        manifest = _named(SERVICES, "eng-service")
        manifest["metadata"]["labels"] = {names.LABEL_ENGINE: "eng"}
        return manifest | {"spec": {"selector": _selector(generation)}}

    def disruption_budget(self, generations: Collection[int], most: int | str) -> Manifest:
        manifest = _named(POD_DISRUPTION_BUDGETS, "eng-pdb")
        return manifest | {"spec": {"maxUnavailable": most, "selector": {"generations": sorted(generations)}}}

    def drift(self, statefulset: Child) -> str | None:
        del statefulset
        return self._drift


def _named(resource: Resource, name: str) -> Manifest:
    metadata = {"name": name, "namespace": "ns"}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
