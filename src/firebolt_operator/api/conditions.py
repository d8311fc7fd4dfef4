"""Conditions: one entry per type, and a transition time that moves only when the status flips."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firebolt_operator.api.model import Instant, Int64, Model, note

ConditionStatus = Literal["True", "False", "Unknown"]
TYPE_PATTERN = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
REASON_PATTERN = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
MOST_REASON = 1024  # characters
MOST_MESSAGE = 32768


class Condition(Model, frozen=True, kw_only=True):
    type: Annotated[str, Meta(max_length=316, pattern=TYPE_PATTERN), note("What the condition is about.")]
    status: Annotated[ConditionStatus, note("Whether it holds.")]
    reason: Annotated[
        str, Meta(min_length=1, max_length=MOST_REASON, pattern=REASON_PATTERN), note("Why, in one word for programs.")
    ]
    message: Annotated[str, Meta(max_length=MOST_MESSAGE), note("Why, in a sentence for people.")]
    last_transition_time: Annotated[Instant, note("When the status last changed.")]
    observed_generation: Annotated[
        Int64, Meta(ge=0), note("metadata.generation of the object that this was found out about.")
    ] = 0

    @property
    def is_true(self) -> bool:
        return self.status == "True"


def find_condition(conditions: Sequence[Condition], kind: str) -> Condition | None:
    return next((condition for condition in conditions if condition.type == kind), None)


def is_reason(text: str) -> bool:
    """Whether the API server takes it as one. It minds a line's end, which `$` does not."""
    return len(text) <= MOST_REASON and re.fullmatch(REASON_PATTERN, text) is not None and not text.endswith("\n")


def with_condition(conditions: Sequence[Condition], new: Condition) -> list[Condition]:
    """The list with `new` in its type's place; the old transition time survives unless the status changed."""
    old = find_condition(conditions, new.type)
    since = old.last_transition_time if old is not None and old.status == new.status else new.last_transition_time
    # Others are quoted in messages: one that is too long would have the whole status refused, pass after pass.
    told = msgspec.structs.replace(new, message=new.message[:MOST_MESSAGE], last_transition_time=since)
    if old is None:
        return [*conditions, told]
    return [told if condition.type == new.type else condition for condition in conditions]
