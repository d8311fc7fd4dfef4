"""What has a generation lost in the middle of a rollout, so that it could not serve?"""

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.engine.facts import EngineFacts, GenerationFacts


def is_taken(generation: GenerationFacts, uid: str) -> bool:
    """Left over from an engine of the same name, or somebody's own: it is never written to."""
    found = (generation.statefulset, generation.config_map, generation.headless_service)
    return any(child is not None and not child.is_owned_by(uid) for child in found)


def is_lost(generation: GenerationFacts, uid: str) -> bool:
    statefulset = generation.statefulset
    return statefulset is None or statefulset.metadata.is_deleting or not statefulset.is_owned_by(uid)


def lacks_pods(generation: GenerationFacts, replicas: int, uid: str) -> bool:
    """It should have replicas, by its own StatefulSet or by what is asked for, and no pod of it could take a query."""
    statefulset = generation.statefulset
    is_own = statefulset is not None and statefulset.is_owned_by(uid)
    wanted = generation.replicas if is_own else replicas
    return wanted != 0 and (is_lost(generation, uid) or generation.pods.ready == 0)


def must_be_rendered(status: EngineStatus, facts: EngineFacts, replicas: int, uid: str) -> bool:
    """While `draining` nothing is rendered, and the instance does not matter, unless something was lost."""
    active = facts.active
    is_draining = status.phase == EnginePhase.DRAINING
    return is_draining and (active.config_map is None or lacks_pods(active, replicas, uid))
