"""What is kept of an engine's time: all that its page shows, in seconds since it began. Plain, to be saved."""

from dataclasses import dataclass, field

from kubectl_firebolt.picture.answers import Answer, generation_of_pod


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str  # two or three words
    title: str  # what is done, as a sentence
    began_at: float
    ended_at: float
    outcome: str = ""  # what came of it, as a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseSpan:
    phase: str
    began_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Queries were sent to this generation from here to there."""

    generation: int
    began_at: float
    ended_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSpan:
    number: int
    replicas: int
    image: str
    began_at: float
    ended_at: float | None = None  # None: it still exists


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSpan:
    name: str
    generation: int | None  # None: it belongs to the instance, not to an engine
    began_at: float
    ready_at: float | None = None
    ending_at: float | None = None  # asked to end
    ended_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a recording says of itself and no watch can tell."""

    kicker: str  # who made it
    began: str  # wall clock, for people
    since: str  # what times are counted from
    story: str  # "1,234 queries, 0 failed, while ..." goes on with it
    highlights: list[Highlight] = field(default_factory=list[Highlight])
    facts: list[str] = field(default_factory=list[str])  # what it ran on, for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    engine: str
    seconds: float
    told: Told
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
