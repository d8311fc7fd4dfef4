"""What is kept of a demo: everything its page shows, in seconds since it began. Plain data, so that it can be saved."""

import msgspec

from firebolt_local.testing.load import Answer
from firebolt_local.testing.load_report import generation_of_pod


class Step(msgspec.Struct, frozen=True, kw_only=True):
    name: str  # two or three words
    title: str  # what is done, as a sentence
    began_at: float
    ended_at: float
    outcome: str = ""  # what came of it, as a sentence


class PhaseSpan(msgspec.Struct, frozen=True, kw_only=True):
    phase: str
    began_at: float
    ended_at: float


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """Queries were sent to this generation from here to there."""

    generation: int
    began_at: float
    ended_at: float


class GenerationSpan(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    replicas: int
    image: str
    began_at: float
    ended_at: float | None = None  # None: it still exists


class PodSpan(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    generation: int | None  # None: it belongs to the instance, not to an engine
    began_at: float
    ready_at: float | None = None
    ending_at: float | None = None  # asked to end
    ended_at: float | None = None


class Note(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    text: str


class Highlight(msgspec.Struct, frozen=True, kw_only=True):
    value: str
    label: str


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    engine: str
    began: str  # wall clock, for people
    seconds: float
    story: str  # "1,234 queries, 0 failed, while ..." goes on with it
    highlights: list[Highlight]
    facts: list[str]  # what it ran on, for people
    steps: list[Step]
    phases: list[PhaseSpan]
    serving: list[Serving]
    generations: list[GenerationSpan]
    pods: list[PodSpan]
    notes: list[Note]
    answers: list[Answer]


def longest_tail(recording: Recording) -> float:
    """Seconds from a switch until the last query that still started for the generation before it; the worst switch."""
    tails = [0.0]
    for span in recording.serving[:-1]:
        begun = [answer.due_at for answer in recording.answers if generation_of_pod(answer.pod) == span.generation]
        tails += [max(begun) - span.ended_at] if begun else []
    return max(tails)
