"""Is an object on its way, or does it wait for a person? The two conditions that GitOps tools read (kstatus).

Each is there only while it holds, and never both. Neither says whether anything serves: that is `Ready`, and an object
that is stuck may well serve.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from firebolt_operator.api.conditions import Condition, with_condition
from firebolt_operator.api.names import CONDITION_RECONCILING, CONDITION_STALLED, EngineClassReason, EngineReason

KINDS: Final = frozenset({CONDITION_STALLED, CONDITION_RECONCILING})


@dataclass(frozen=True, slots=True)
class Stalled:
    """It does not get on by itself; the message says what a person must do."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Reconciling:
    """It is on its way, and somebody who waits may go on waiting."""

    reason: str
    message: str


Progress = Stalled | Reconciling | None
"""None: it has arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """What the reasons of one kind's `Ready` tell. Any other reason means that the object is on its way."""

    arrived: frozenset[str]
    stalled: frozenset[str]

    def progress(self, reason: str, message: str) -> Progress:
        if reason in self.stalled:
            return Stalled(reason, message)
        return None if reason in self.arrived else Reconciling(reason, message)


ENGINE_REASONS: Final = Reasons(
    arrived=frozenset({EngineReason.ENGINE_READY, EngineReason.STOPPED}),
    stalled=frozenset(
        {
            EngineReason.SPEC_INVALID,
            EngineReason.ENGINE_CLASS_MISSING,
            EngineReason.CLASS_UNREADY,
            EngineReason.PRESET_REQUIRED,
            EngineReason.PRESET_UNREADY,
            EngineReason.TEMPLATE_REJECTED,
            EngineReason.RESOURCE_BOUNDS_EXCEEDED,
            EngineReason.ENSURE_FAILED,
            EngineReason.PROGRESS_DEADLINE_EXCEEDED,
            EngineReason.UNREADABLE,
        }
    ),
)
ENGINE_CLASS_REASONS: Final = Reasons(
    arrived=frozenset({EngineClassReason.ADMISSIBLE}),
    stalled=frozenset({EngineClassReason.OPERATOR_OWNED_FIELD_SET}),
)


def with_progress(
    conditions: Sequence[Condition], progress: Progress, *, spec_generation: int, now: datetime
) -> list[Condition]:
    """The list with the one condition that holds, if any; what holds no longer is taken out."""
    if progress is None:
        return [condition for condition in conditions if condition.type not in KINDS]
    kind = CONDITION_STALLED if isinstance(progress, Stalled) else CONDITION_RECONCILING
    new = Condition(
        type=kind,
        status="True",
        reason=progress.reason,
        message=progress.message,
        last_transition_time=now,
        observed_generation=spec_generation,
    )
    kept = [condition for condition in conditions if condition.type not in KINDS - {kind}]
    return with_condition(kept, new)
