"""Does an engine get on? What its conditions Stalled and Reconciling say, and when a start has taken too long."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.durations import format_duration
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.kstatus import ENGINE_REASONS, Progress, Reconciling, Stalled, with_progress
from firebolt_operator.api.names import EnginePhase, EngineReason, EventReason
from firebolt_operator.engine.decide.conditions import with_verdict
from firebolt_operator.engine.facts import GenerationFacts
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Warn


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What one pass found out about an engine."""

    ready: Verdict
    to_mend: Stalled | None = None  # what a person must do, whatever serves meanwhile
    overdue: Stalled | None = None  # a generation that should have been ready by now
    queued: str = ""  # what it waits for before it rolls
    is_at_rest: bool = False

    def progress(self) -> Progress:
        """First what keeps the engine from getting on at all, then what merely takes too long."""
        told = self.to_mend or ENGINE_REASONS.progress(self.ready.reason, self.ready.message)
        if isinstance(told, Stalled):
            return told
        if self.overdue is not None:
            return self.overdue
        if self.queued:
            return Reconciling(EngineReason.QUEUED, self.queued)
        if told is None and not self.is_at_rest:
            # It has just come to rest on what it was asked for when it set out; whether that still holds comes next.
            return Reconciling(EngineReason.ROLLING, f"{self.ready.message}; comparing it with the spec")
        return told


def with_findings(status: EngineStatus, found: Findings, *, spec_generation: int, now: datetime) -> EngineStatus:
    told = with_verdict(status, names.CONDITION_READY, found.ready, spec_generation=spec_generation, now=now)
    conditions = with_progress(told.conditions, found.progress(), spec_generation=spec_generation, now=now)
    return msgspec.structs.replace(told, conditions=conditions)


def overdue_generation(
    status: EngineStatus, current: GenerationFacts, deadline: timedelta | None, now: datetime
) -> Stalled | None:
    """`current` may still be what a new attempt leaves behind: only the generation that the status names counts."""
    statefulset = current.statefulset
    if status.phase != EnginePhase.CREATING or statefulset is None or deadline is None:
        return None
    created_at = statefulset.metadata.creation_timestamp
    is_meant = statefulset.generation == status.current_generation
    if not is_meant or created_at is None or now - created_at < deadline:
        return None
    serving = f"generation {status.active_generation} serves" if status.active_generation >= 0 else "nothing serves yet"
    message = (
        f"generation {status.current_generation} is not ready within progressDeadline {format_duration(deadline)};"
        f" {serving}, and the attempt goes on. Mend what Ready and the pods say, or edit the spec to start over"
    )
    return Stalled(EngineReason.PROGRESS_DEADLINE_EXCEEDED, message)


def overdue_warning(overdue: Stalled) -> Warn:
    return Warn(reason=EventReason.PROGRESS_DEADLINE_EXCEEDED, action="Creating", note=overdue.message)
