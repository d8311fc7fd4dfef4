"""What becomes of a rollout whose new generation is lost on the way? Nobody's old generation goes for it. Pure."""

import msgspec

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.engine.decide.losses import is_lost, is_taken, lacks_pods
from firebolt_operator.engine.decide.routing import service_repair, serving_generation
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.engine.plan import AT_ONCE, PODS_WAIT, Plan
from firebolt_operator.refs import Manifest


def back_to_creating(situation: Situation) -> Plan:
    """The generation that queries were about to be sent to is gone: the one before it has not stopped serving."""
    status = msgspec.structs.replace(situation.status, phase=EnginePhase.CREATING)
    repair = service_repair(situation.facts.service, situation.blueprint, serving_generation(status))
    return Plan(
        reason="the new generation was lost before it served", status=status, look_again=AT_ONCE, ensures=repair
    )


def decide_lost(situation: Situation, status: EngineStatus) -> Plan | None:
    """While draining: the old generation stays, however long it takes, until the new one can serve again."""
    active, uid = situation.facts.active, situation.uid
    if not lacks_pods(active, situation.spec.replicas, uid) or is_taken(active, uid) or _has_drifted(situation):
        # What was edited meanwhile, or cannot be made again under its name, becomes the generation after this one.
        return None
    generation = status.active_generation
    if situation.unresolved:
        text = f"generation {generation} cannot serve, and nothing of it can be made again yet: {situation.unresolved}"
    elif is_lost(active, uid):
        text = f"generation {generation} has lost its StatefulSet, which is made again"
    else:
        text = f"generation {generation} has no ready pod, so the old generation stays"
    ensures = lost_objects(situation)
    return Plan(reason=text, status=status, look_again=PODS_WAIT, ensures=ensures, waiting_for=text)


def lost_objects(situation: Situation) -> tuple[Manifest, ...]:
    """What the generation that serves has lost; its StatefulSet only where there is none: it is never patched."""
    active, blueprint, generation = situation.facts.active, situation.blueprint, situation.status.active_generation
    if is_taken(active, situation.uid):
        return ()
    headless = () if active.headless_service else (blueprint.headless_service(generation),)
    has_statefulset = active.statefulset is not None or situation.spec.replicas == 0
    if (active.config_map and has_statefulset) or situation.unresolved or _has_drifted(situation):
        return headless
    config_map = () if active.config_map else (blueprint.config_map(generation),)
    statefulset = () if has_statefulset else (blueprint.statefulset(generation),)
    return (*config_map, *headless, *statefulset)


def _has_drifted(situation: Situation) -> bool:
    statefulset = situation.facts.active.statefulset
    if statefulset is None or situation.unresolved:
        return False
    return situation.blueprint.drift(statefulset) is not None
