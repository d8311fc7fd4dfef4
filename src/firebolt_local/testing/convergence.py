"""When has an engine, or an instance, arrived where its spec wants it?"""

from collections.abc import Callable

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import CONDITION_RECONCILING, EnginePhase


def is_at_rest(replicas: int, *, since: int = 0) -> Callable[[FireboltEngine], bool]:
    """Only what is as new as the edit counts: before the watch tells of it, the engine rests where it was."""
    phase = EnginePhase.STABLE if replicas else EnginePhase.STOPPED

    def check(engine: FireboltEngine) -> bool:
        status = engine.status
        is_seen = status.observed_generation == engine.metadata.generation >= since
        has_arrived = status.phase == phase and find_condition(status.conditions, CONDITION_RECONCILING) is None
        return is_seen and has_arrived and status.ready_replicas == replicas

    return check


def is_ready(instance: FireboltInstance) -> bool:
    return instance.status.phase == "Ready"
