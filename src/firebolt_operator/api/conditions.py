"""Conditions: one entry per type, and a transition time that moves only when the status flips."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta

from firebolt_operator.api.model import Int64, Model, note

ConditionStatus = Literal["True", "False", "Unknown"]
TYPE_PATTERN = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
REASON_PATTERN = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(Model, frozen=True, kw_only=True):
    type: Annotated[str, Meta(max_length=316, pattern=TYPE_PATTERN), note("What the condition is about.")]
    status: Annotated[ConditionStatus, note("Whether it holds.")]
    reason: Annotated[
        str, Meta(min_length=1, max_length=1024, pattern=REASON_PATTERN), note("Why, in one word for programs.")
    ]
    message: Annotated[str, Meta(max_length=32768), note("Why, in a sentence for people.")]
    last_transition_time: Annotated[datetime, note("When the status last changed.")]
    observed_generation: Annotated[
        Int64, Meta(ge=0), note("metadata.generation of the object that this was found out about.")
    ] = 0

    @property
    def is_true(self) -> bool:
        return self.status == "True"


def find_condition(conditions: Sequence[Condition], kind: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == kind), None)


def with_condition(conditions: Sequence[Condition], new: Condition) -> list[Condition]:
    """The list with `new` in its type's place; the old transition time survives unless the status changed."""
    old = find_condition(conditions, new.type)
    if old is None:
        return [*conditions, new]
    if old.status == new.status:
        new = Condition(
            type=new.type,
            status=new.status,
            reason=new.reason,
            message=new.message,
            last_transition_time=old.last_transition_time,
            observed_generation=new.observed_generation,
        )
    return [new if condition.type == new.type else condition for condition in conditions]
