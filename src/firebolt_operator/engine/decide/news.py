"""What happened to an engine that its people want to read? Told from the stored status and the one before."""

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import AutoStopReason, EnginePhase, NewsReason
from firebolt_operator.engine.decide.autostop import Decision
from firebolt_operator.refs import News

_BECAUSE = {
    AutoStopReason.IDLE: (NewsReason.PARKED, "no query for as long as its idle timeout"),
    AutoStopReason.WAKE_REQUESTED: (NewsReason.WOKEN, "a query waits for it"),
    AutoStopReason.SCHEDULE_ACTIVE: (NewsReason.WOKEN, "its schedule is open"),
}
_BEFORE_VALUES = ": live "
"""Drift is told with both values; those belong into the log, not where every reader of events sees them."""


def rollout_news(before: EngineStatus, after: EngineStatus, why: str) -> tuple[News, ...]:
    """`why` is the reason of the plan that led from one to the other. Only for a status that is stored."""
    told = list[News]()
    current, active = after.current_generation, after.active_generation
    if current != before.current_generation or before.phase == EnginePhase.UNSET:
        note = f"generation {current} is being made: {_without_values(why)}"
        told.append(News(reason=NewsReason.GENERATION_STARTED, action="Creating", note=note))
    if before.phase == EnginePhase.SWITCHING and active != before.active_generation:
        note = f"queries go to generation {active}"
        told.append(News(reason=NewsReason.SWITCHED, action="Switching", note=note))
    return tuple(told)


def drained(generation: int | None, why: str) -> News:
    note = f"generation {generation} is deleted: {why}"
    return News(reason=NewsReason.DRAINED, action="Draining", note=note)


def resized(decision: Decision, replicas: int) -> tuple[News, ...]:
    """`replicas`: how many nodes it had before."""
    if decision.replicas == replicas or decision.reason not in _BECAUSE:
        return ()
    reason, why = _BECAUSE[decision.reason]
    return (News(reason=reason, action="AutoStop", note=f"{why}: from {replicas} to {decision.replicas} nodes"),)


def _without_values(why: str) -> str:
    return why.removeprefix("new generation: ").partition(_BEFORE_VALUES)[0]
