"""The explanation as a whole: where it stands, why, and what comes next."""

from typing import Final

from kubectl_firebolt.explain.decide.deletion import leftover_findings
from kubectl_firebolt.explain.decide.engine import engine_findings, engine_state, is_well, next_of
from kubectl_firebolt.explain.decide.others import is_other_well, other_findings, other_next, other_state
from kubectl_firebolt.explain.finding import Explanation
from kubectl_firebolt.explain.seen import Kind, Seen, ago, parse_time
from kubectl_firebolt.manifest import Manifest, name_of

_MOST_WARNINGS: Final = 6


def explain(seen: Seen) -> Explanation:
    if seen.subject is None:
        return _leftovers(seen)
    is_engine = seen.kind is Kind.ENGINE
    return Explanation(
        subject=f"{seen.kind} {seen.name}",
        state=engine_state(seen) if is_engine else other_state(seen),
        is_well=is_well(seen) if is_engine else is_other_well(seen),
        findings=engine_findings(seen) if is_engine else other_findings(seen),
        next_step=next_of(seen) if is_engine else other_next(seen),
        warnings=_warnings(seen),
        unseen=seen.unseen,
    )


def _leftovers(seen: Seen) -> Explanation:
    return Explanation(
        subject=f"{seen.kind} {seen.name}",
        state="gone, but not all that belonged to it",
        is_well=False,
        findings=leftover_findings(seen),
        next_step="Nothing: what is left is in other hands.",
        unseen=seen.unseen,
    )


def _warnings(seen: Seen) -> list[str]:
    """Events about it and what belongs to it, the newest first."""
    about = {seen.name, *(name_of(child) for child in seen.children), *(name_of(pod) for pod in seen.instance_pods)}
    told = [event for event in seen.warnings if (event.get("involvedObject") or {}).get("name") in about]
    return [_warning(event, seen) for event in sorted(told, key=_when, reverse=True)[:_MOST_WARNINGS]]


def _when(event: Manifest) -> str:
    series = event.get("series") or {}
    found = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(found or event["metadata"].get("creationTimestamp") or "")


def _warning(event: Manifest, seen: Seen) -> str:
    at, about = parse_time(_when(event)), event["involvedObject"]
    count = event.get("count") or (event.get("series") or {}).get("count") or 1
    times = f" (x{count})" if count > 1 else ""
    since = f"{ago(at, seen.now)} ago, " if at else ""
    words = " ".join(str(event.get("message", "")).split())
    return f"{since}{about.get('kind')}/{about.get('name')}: {event.get('reason')}: {words}{times}"
