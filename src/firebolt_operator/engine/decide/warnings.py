"""What the StatefulSet controller says about pods it cannot create, in the engine's own Ready condition.

Kubernetes puts the reason (a missing ServiceAccount, a quota, an admission check) on the StatefulSet as an event, where
nobody who looks at the engine would find it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from firebolt_operator.api.conditions import is_reason
from firebolt_operator.api.names import EngineReason
from firebolt_operator.engine.facts import EngineFacts, PodCount
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest

REFINABLE = frozenset({EngineReason.ROLLING, EngineReason.PODS_NOT_READY})
PATIENCE = timedelta(seconds=2)
"""A StatefulSet younger than this is not stuck but busy; asking for its events would only cost requests."""
START_TIME = timedelta(seconds=20)
"""What an engine may take to start: telling sooner that it is not ready yet would cost every rollout a write."""


def is_worth_asking(verdict: Verdict, facts: EngineFacts, replicas: int, statefulset_age: timedelta) -> bool:
    """Not before its controller has come to it, however long that takes: it has nothing to say until then. Nor where it
    should have no more pods than it has: one that is parked is not in trouble, whatever the engine wants by now.
    """
    statefulset = facts.current.statefulset
    if statefulset is None or not statefulset.is_observed:
        return False
    wanted = min(replicas, int(statefulset.spec.get("replicas", 1)))
    is_late = statefulset_age >= PATIENCE and facts.current.pods.total < wanted
    return is_late and _can_be_refined(verdict)


def _can_be_refined(verdict: Verdict) -> bool:
    return verdict.status == "False" and verdict.reason in REFINABLE


def doubting_verdict(verdict: Verdict, pods: PodCount, statefulset_age: timedelta) -> Verdict:
    """Says what pods may be in trouble with, once it lasts: every pod that starts looks like that for a moment."""
    is_late = statefulset_age >= START_TIME and _can_be_refined(verdict)
    if not pods.doubt or pods.trouble or not is_late:
        return verdict
    return replace(verdict, message=f"{verdict.message}; {pods.doubt}")


def refined_verdict(verdict: Verdict, statefulset: str, events: Sequence[Manifest]) -> Verdict:
    """The verdict in the words of the newest warning; unchanged when there is none."""
    telling = [event for event in events if event.get("type") == "Warning" and str(event.get("message", "")).strip()]
    if not telling:
        return verdict
    newest = max(telling, key=_seen_at)
    reason = str(newest.get("reason", ""))
    if not is_reason(reason):
        reason = EngineReason.STATEFULSET_WARNING
    message = f"StatefulSet {statefulset}: {str(newest['message']).strip()} (x{_count(newest)})"
    return Verdict(status="False", reason=reason, message=message)


def _seen_at(event: Manifest) -> str:
    return str(
        event.get("lastTimestamp") or event.get("eventTime") or event.get("metadata", {}).get("creationTimestamp") or ""
    )


def _count(event: Manifest) -> int:
    return int(event.get("count") or event.get("series", {}).get("count") or 1)
