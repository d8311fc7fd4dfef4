"""What does one leader know of one instance besides what the caches hold? Nothing that may be lost matters."""

from dataclasses import dataclass, field

from firebolt_operator.instance.facts import Answer
from firebolt_operator.refs import Ref


@dataclass(slots=True)
class Memory:
    has_read_live: bool = False  # until then, what a former leader did last may be in no cache yet
    answers: dict[Ref, Answer] = field(default_factory=dict[Ref, Answer])
