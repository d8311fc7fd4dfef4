"""What a reconciler found out about an object, in the words of a condition. Pure."""

from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.api.conditions import Condition, ConditionStatus


@dataclass(frozen=True, slots=True)
class Verdict:
    """A condition before it is dated."""

    status: ConditionStatus
    reason: str
    message: str

    def dated(self, kind: str, *, spec_generation: int, now: datetime) -> Condition:
        return Condition(
            type=kind,
            status=self.status,
            reason=self.reason,
            message=self.message,
            last_transition_time=now,
            observed_generation=spec_generation,
        )
