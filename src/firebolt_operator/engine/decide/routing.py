"""Where do queries go? The engine's Service must select the generation that serves, and must be the engine's own."""

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase, EngineReason
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.losses import is_lost, is_taken, lacks_pods
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.views import Child
from firebolt_operator.manifests.subset import is_subset
from firebolt_operator.reconciling.verdicts import Verdict
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


def standing_routes(status: EngineStatus, facts: EngineFacts, blueprint: Blueprint, uid: str) -> tuple[Manifest, ...]:
    """What leads queries and peers to the generation that serves, where it is lost and nothing else may be rendered.

    Both Services follow from name and generation alone, so neither waits for an instance, a class or a template.
    """
    serving = facts.active if status.active_generation >= 0 else facts.current
    if status.active_generation < 0 and is_lost(serving, uid):
        return ()  # nothing was made yet that could be reached
    has_peers = serving.headless_service is not None or is_lost(serving, uid) or is_taken(serving, uid)
    headless = () if has_peers else (blueprint.headless_service(serving_generation(status)),)
    return (*headless, *service_repair(facts.service, blueprint, _standing_generation(status, facts, blueprint, uid)))


def _standing_generation(status: EngineStatus, facts: EngineFacts, blueprint: Blueprint, uid: str) -> int:
    """A switch that is under way is neither carried on nor taken back, unless it leads to what is lost."""
    serving, current = serving_generation(status), status.current_generation
    if status.phase != EnginePhase.SWITCHING or is_lost(facts.current, uid):
        return serving
    for selected in (current, serving):
        if not service_repair(facts.service, blueprint, selected):
            return selected
    return serving if lacks_pods(facts.current, 0, uid) else current


def foreign_service(service: Child | None, uid: str) -> Verdict | None:
    """Somebody else's is never taken over: without one of its own an engine cannot be reached, so nothing is made."""
    if service is None or service.is_owned_by(uid):
        return None
    name = service.metadata.name
    text = f"Service {name} {whose(service)}; delete or rename it: queries find the engine under that name"
    return Verdict(status="False", reason=EngineReason.ENSURE_FAILED, message=text)


def whose(child: Child) -> str:
    owner = child.metadata.controller
    return f"belongs to {owner.kind} {owner.name} (uid {owner.uid})" if owner else "was not made by this operator"
