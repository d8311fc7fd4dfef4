"""Where do queries go? The engine's Service must select the generation that serves, and must be the engine's own."""

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EngineReason
from firebolt_operator.api.subset import is_subset
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.conditions import Verdict
from firebolt_operator.engine.views import Child
from firebolt_operator.refs import Manifest


def serving_generation(status: EngineStatus) -> int:
    """The one that has served so far, for as long as nobody switches; before the first switch, the newest."""
    return status.active_generation if status.active_generation >= 0 else status.current_generation


def service_repair(service: Child | None, blueprint: Blueprint, generation: int) -> tuple[Manifest, ...]:
    """The Service as it must be written so that it selects this generation; nothing if it does already."""
    wanted = blueprint.service(generation)
    return () if service is not None and _selects(service, wanted) else (wanted,)


def _selects(service: Child, wanted: Manifest) -> bool:
    """Nothing but what decides about queries: of the rest an apply may leave something, and be repeated for ever."""
    labels, selector = wanted["metadata"]["labels"], wanted["spec"]["selector"]
    return is_subset(labels, service.metadata.labels) and bool(service.spec.get("selector") == selector)


def foreign_service(service: Child | None, uid: str) -> Verdict | None:
    """Somebody else's is never taken over: without one of its own an engine cannot be reached, so nothing is made."""
    if service is None or service.is_owned_by(uid):
        return None
    owner = service.metadata.controller
    whose = f"belongs to {owner.kind} {owner.name} (uid {owner.uid})" if owner else "was not made by this operator"
    text = f"Service {service.metadata.name} {whose}; delete or rename it: queries find the engine under that name"
    return Verdict(status="False", reason=EngineReason.ENSURE_FAILED, message=text)
