"""When do signing keys have to be the ones that the instance has in force at this very moment?

A rotation waits for what it can see: StatefulSets. Whoever is about to make one, or to send queries to one, with keys
from a cached view could do so a moment after the rotation has looked.
"""

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.plan import Plan


def commits_to_keys(status: EngineStatus, facts: EngineFacts, plan: Plan) -> bool:
    """A generation is made, or about to take queries."""
    is_made = status.phase == EnginePhase.CREATING and facts.current.statefulset is None
    return is_made or (status.phase == EnginePhase.CREATING and plan.status.phase == EnginePhase.SWITCHING)
