"""Does any operator look after it?"""

from datetime import timedelta
from typing import Final

from kubectl_firebolt.explain.finding import Finding, blocks, waits
from kubectl_firebolt.explain.seen import Kind, Seen, ago, parse_time
from kubectl_firebolt.manifest import is_deleting

_FRESH: Final = timedelta(seconds=60)  # a lease is renewed every two seconds, and lost after fifteen
_PATIENCE: Final = timedelta(seconds=60)
_LOOK: Final = "kubectl get pods -A -l app.kubernetes.io/name=firebolt-operator"


def is_operator_at_work(seen: Seen) -> bool | None:
    """None: nobody can tell. An operator that runs alone holds no lease, so the absence of one proves nothing."""
    if not seen.operators:
        return None
    return any(seen.now - each.renewed_at < _FRESH for each in seen.operators)


def watching_findings(seen: Seen) -> list[Finding]:
    if is_operator_at_work(seen) is False and seen.operators:
        newest = max(each.renewed_at for each in seen.operators)
        what = f"no operator is at work: the last one renewed its lease {ago(newest, seen.now)} ago"
        return [blocks(what, "start it, or read in its log why it does not run", _LOOK)]
    return _unseen_spec(seen)


def _unseen_spec(seen: Seen) -> list[Finding]:
    """The status speaks of an older spec, or there is none."""
    subject = seen.there
    if seen.kind is Kind.CLUSTER_ENGINE_CLASS:
        return []  # it has no status
    if is_deleting(subject) or _observed(seen) >= int(subject["metadata"].get("generation", 0)):
        return []
    created_at = parse_time(subject["metadata"].get("creationTimestamp"))
    is_new = created_at is not None and seen.now - created_at < _PATIENCE
    if is_new:
        return [waits("no operator has looked at it yet", "give it a moment")]
    what = "no operator has looked at it" if not seen.status else "no operator has looked at its latest edit yet"
    fix = "see that the operator runs, and that its --namespaces and --watch-label-selector include this one"
    return [waits(what, fix, _LOOK)]


def _observed(seen: Seen) -> int:
    fallback = 0 if seen.kind is Kind.ENGINE or not seen.status else int(seen.there["metadata"].get("generation", 0))
    return int(seen.status.get("observedGeneration") or fallback)
