"""What will the operator do next, if nobody interferes?"""

from kubectl_firebolt import names
from kubectl_firebolt.auto_stop import effective_auto_stop
from kubectl_firebolt.explain.decide.watching import is_operator_at_work
from kubectl_firebolt.explain.seen import Seen
from kubectl_firebolt.manifest import condition_of, is_deleting, is_true
from kubectl_firebolt.names import EnginePhase, EngineReason


def next_step(seen: Seen, *, is_well: bool) -> str:
    """First match wins."""
    if is_operator_at_work(seen) is False:
        return "Nothing: no operator is at work."
    if is_deleting(seen.there):
        return "It deletes what belongs to the engine, then takes its finalizer off, and the engine is gone."
    if _is_stuck(seen):
        return "It waits until that is mended, and then goes on by itself." + _still_serving(seen)
    if is_well and _is_behind(seen):
        return "It compares the engine with its latest edit, and starts a new generation if they differ."
    return _by_phase(seen)


def _by_phase(seen: Seen) -> str:
    status, current = seen.status, seen.status.get("currentGeneration", 0)
    match status.get("phase", ""):
        case EnginePhase.UNSET:
            return "It builds the first generation as soon as class and instance allow it."
        case EnginePhase.CREATING:
            return _creating(seen) + _still_serving(seen)
        case EnginePhase.SWITCHING:
            return f"It sends queries to generation {current}, and then waits until the old one is idle."
        case EnginePhase.DRAINING:
            old = status.get("drainingGeneration")
            return (
                f"It deletes generation {old} when that runs no query any more. Generation {current} serves meanwhile."
            )
        case EnginePhase.CLEANING:
            return f"It deletes generation {status.get('drainingGeneration')}."
        case _:
            return _at_rest(seen)


def _creating(seen: Seen) -> str:
    generation, nodes = seen.status.get("currentGeneration", 0), seen.spec.get("replicas", 1)
    ready = condition_of(seen.there, names.CONDITION_READY) or {}
    if ready.get("reason") == EngineReason.INSTANCE_NOT_READY:
        return f"It builds generation {generation} as soon as the instance is ready."
    pods = "the pod" if nodes == 1 else f"all {nodes} pods"
    verb = "is" if nodes == 1 else "are"
    return f"It waits until {pods} of generation {generation} {verb} ready, then sends queries there."


def _at_rest(seen: Seen) -> str:
    if seen.status.get("phase") == EnginePhase.STOPPED:
        return _stopped(seen)
    policy = effective_auto_stop(seen.there, seen.engine_class)
    if not is_true(condition_of(seen.there, names.CONDITION_READY)):
        return "It waits until the pods are ready again, and sends queries to those that are."
    if not policy:
        return "Nothing: the engine is what its spec asks for."
    last = seen.status.get("lastActivityTime")
    since = f" (last seen busy {last})" if last else ""
    idle = policy.get("idleReplicas", 0)
    return f"It takes the engine to {idle} nodes after {policy.get('idleTimeout', '30m')} without a query{since}."


def _stopped(seen: Seen) -> str:
    policy = effective_auto_stop(seen.there, seen.engine_class)
    if not policy:
        return "Nothing, until spec.replicas is raised."
    return f"It starts {policy.get('activeReplicas')} nodes when a query comes through the gateway, or by schedule."


def _still_serving(seen: Seen) -> str:
    active = seen.status.get("activeGeneration", -1)
    return f" Generation {active} goes on serving." if active is not None and active >= 0 else ""


def _is_stuck(seen: Seen) -> bool:
    stalled = condition_of(seen.there, names.CONDITION_STALLED)
    is_late = stalled is not None and stalled.get("reason") == EngineReason.PROGRESS_DEADLINE_EXCEEDED
    return is_true(stalled) and not is_late


def _is_behind(seen: Seen) -> bool:
    return int(seen.status.get("observedGeneration") or 0) < int(seen.there["metadata"].get("generation", 0))
