"""Why is this engine not ready, and what comes next?"""

from typing import Final

from kubectl_firebolt import names
from kubectl_firebolt.explain.decide.deletion import deletion_findings, leftover_findings
from kubectl_firebolt.explain.decide.instance import blamed_instance
from kubectl_firebolt.explain.decide.next_step import next_step
from kubectl_firebolt.explain.decide.pods import is_ready, pod_findings
from kubectl_firebolt.explain.decide.reasons import ENGINE_FIXES, fix_for
from kubectl_firebolt.explain.decide.watching import watching_findings
from kubectl_firebolt.explain.finding import Finding, blocks, note, waits
from kubectl_firebolt.explain.seen import Seen, ago, parse_time
from kubectl_firebolt.manifest import condition_of, is_deleting, is_true
from kubectl_firebolt.names import AutoStopReason, EnginePhase, EngineReason

_BY_PODS: Final = frozenset({EngineReason.ROLLING, EngineReason.PODS_NOT_READY})
_ON_ITS_WAY: Final = frozenset({EngineReason.ROLLING, EngineReason.INITIALIZING})


def engine_findings(seen: Seen) -> list[Finding]:
    if is_deleting(seen.there):
        return deletion_findings(seen)
    found = [*watching_findings(seen), *_stalled(seen), *_not_ready(seen), *_drain(seen), *_auto_stop(seen)]
    return [*dict.fromkeys(found), *leftover_findings(seen)]


def is_well(seen: Seen) -> bool:
    """Ready, or stopped because somebody wants it stopped; and nobody has to mend anything."""
    ready = condition_of(seen.there, names.CONDITION_READY)
    is_stopped = ready is not None and ready.get("reason") == EngineReason.STOPPED
    is_stuck = is_true(condition_of(seen.there, names.CONDITION_STALLED))
    return (is_true(ready) or is_stopped) and not is_stuck and not is_deleting(seen.there)


def engine_state(seen: Seen) -> str:
    if is_deleting(seen.there):
        return "being deleted"
    ready = condition_of(seen.there, names.CONDITION_READY)
    phase = str(seen.status.get("phase", ""))
    if ready is None:
        return f"no word about readiness yet, phase {phase or 'not set'}"
    word = "ready" if is_true(ready) else f"not ready ({ready.get('reason', '')})"
    return f"{word}, phase {phase or 'not set'}{_serving(seen)}"


def _serving(seen: Seen) -> str:
    active, current = _number(seen, "activeGeneration", -1), _number(seen, "currentGeneration", 0)
    if active < 0:
        return "; nothing serves yet"
    pods = seen.pods_of(active)
    words = f"; generation {active} serves with {sum(map(is_ready, pods))} of {len(pods)} pods ready"
    return words + (f", generation {current} is on its way" if current != active else "")


def next_of(seen: Seen) -> str:
    return next_step(seen, is_well=is_well(seen))


def _stalled(seen: Seen) -> list[Finding]:
    stalled = condition_of(seen.there, names.CONDITION_STALLED)
    if not is_true(stalled) or stalled is None:
        return []
    reason = str(stalled.get("reason", ""))
    return [blocks(f"{reason}: {stalled.get('message', '')}", fix_for(ENGINE_FIXES, reason))]


def _not_ready(seen: Seen) -> list[Finding]:
    ready = condition_of(seen.there, names.CONDITION_READY)
    if ready is None or is_true(ready):
        return []
    reason, message = str(ready.get("reason", "")), str(ready.get("message", ""))
    if reason == EngineReason.INSTANCE_NOT_READY:
        return blamed_instance(seen) or [_by_reason(reason, message)]
    if reason == EngineReason.STOPPED:
        return [_stopped(seen, message)]
    if reason in _BY_PODS and (found := _pods(seen)):
        return found
    if reason in _BY_PODS and seen.status.get("phase") == EnginePhase.DRAINING:
        return []  # what it waits for is told as such
    return [_by_reason(reason, message), *_pods(seen)]


def _by_reason(reason: str, message: str) -> Finding:
    weigh = waits if reason in _ON_ITS_WAY else blocks
    return weigh(f"{reason}: {message}", fix_for(ENGINE_FIXES, reason))


def _pods(seen: Seen) -> list[Finding]:
    """Of the generation that has to become ready."""
    current = _number(seen, "currentGeneration", 0)
    pods, wanted = seen.pods_of(current), int(seen.spec.get("replicas", 1))
    findings = pod_findings(seen, pods)
    if not findings and len(pods) < wanted and seen.status.get("phase") == EnginePhase.CREATING:
        what = f"generation {current} has {len(pods)} of {wanted} pods"
        statefulset = names.statefulset_name(seen.name, current)
        findings = [waits(what, "see what keeps them", seen.kubectl("describe", "statefulset", statefulset))]
    return findings


def _stopped(seen: Seen, message: str) -> Finding:
    why = str(seen.status.get("autoStopReason", ""))
    parked = {AutoStopReason.IDLE, AutoStopReason.STOPPED}
    fix = "send a query through the gateway, or start it" if why in parked else "start it"
    return note(message or "it is stopped", fix, seen.plugin("engine", "start", seen.name))


def _drain(seen: Seen) -> list[Finding]:
    old = seen.status.get("drainingGeneration")
    if seen.status.get("phase") != EnginePhase.DRAINING or old is None:
        return []
    switched_at = parse_time(seen.status.get("switchedAt"))
    since = f" for {ago(switched_at, seen.now)}" if switched_at else ""
    ready = condition_of(seen.there, names.CONDITION_READY) or {}
    _, _, why = str(ready.get("message", "")).partition("; ")
    what = f"generation {old} has been draining{since}" + (f": {why}" if why else "")
    bound = seen.spec.get("drainTimeout")
    limit = f"spec.drainTimeout ends it after {bound}" if bound else "spec.drainTimeout would bound it"
    return [waits(what, f"let its queries end, or end them yourself; {limit}. Queries are answered meanwhile")]


def _auto_stop(seen: Seen) -> list[Finding]:
    if seen.status.get("autoStopReason") != AutoStopReason.SCRAPE_FAILED:
        return []
    what = "auto-stop cannot tell whether the engine is idle, and leaves it running: its pods' metrics cannot be read"
    return [note(what, "let port 9090 through NetworkPolicies and the operator get pods/proxy")]


def _number(seen: Seen, field: str, default: int) -> int:
    value = seen.status.get(field)
    return default if value is None else int(value)
