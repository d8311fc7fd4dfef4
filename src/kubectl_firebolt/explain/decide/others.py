"""Why is this instance, or what engines share, not ready, or not gone?"""

from kubectl_firebolt import names
from kubectl_firebolt.explain.decide.deletion import deletion_findings, leftover_findings
from kubectl_firebolt.explain.decide.instance import instance_findings
from kubectl_firebolt.explain.decide.reasons import ENGINE_CLASS_FIXES, fix_for
from kubectl_firebolt.explain.decide.watching import is_operator_at_work, watching_findings
from kubectl_firebolt.explain.finding import Finding, blocks
from kubectl_firebolt.explain.seen import Kind, Seen
from kubectl_firebolt.manifest import condition_of, is_deleting, is_true


def other_findings(seen: Seen) -> list[Finding]:
    if is_deleting(seen.there):
        return deletion_findings(seen)
    own = instance_findings(seen, seen.there) if seen.kind is Kind.INSTANCE else _shared_findings(seen)
    return [*watching_findings(seen), *own, *leftover_findings(seen)]


def is_other_well(seen: Seen) -> bool:
    if seen.kind is Kind.CLUSTER_ENGINE_CLASS:
        return not is_deleting(seen.there)
    is_stuck = is_true(condition_of(seen.there, names.CONDITION_STALLED))
    is_ready = is_true(condition_of(seen.there, names.CONDITION_READY))
    return is_ready and not is_stuck and not is_deleting(seen.there)


def other_state(seen: Seen) -> str:
    if is_deleting(seen.there):
        return "being deleted"
    if seen.kind is Kind.CLUSTER_ENGINE_CLASS:
        return f"used by {len(seen.engines)} engine(s)"  # this kind has no status: there is nothing to wait for
    ready = condition_of(seen.there, names.CONDITION_READY)
    phase = seen.status.get("phase")
    word = "no word about readiness yet"
    if ready is not None:
        word = "ready" if is_true(ready) else f"not ready ({ready.get('reason', '')})"
    return f"{word}, phase {phase}" if phase else word


def other_next(seen: Seen) -> str:
    if is_operator_at_work(seen) is False:
        return "Nothing: no operator is at work."
    if is_deleting(seen.there):
        return "It cleans up, then takes its finalizer off, and it is gone."
    if is_other_well(seen):
        return "Nothing: it is what its spec asks for."
    return "It goes on as soon as what is named above is mended or ready."


def _shared_findings(seen: Seen) -> list[Finding]:
    kinds = ((names.CONDITION_READY, "False"), (names.CONDITION_STALLED, "True"))
    found = [(condition_of(seen.there, kind), bad) for kind, bad in kinds]
    told = {
        str(each.get("reason", "")): str(each.get("message", ""))
        for each, bad in found
        if each and each["status"] == bad
    }
    return [blocks(f"{reason}: {text}", fix_for(ENGINE_CLASS_FIXES, reason)) for reason, text in told.items()]
