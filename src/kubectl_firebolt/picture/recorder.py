"""What happened to the engine, its generations and its pods, and when? Remembers what it is shown."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from kubectl_firebolt.manifest import Manifest, condition_of, is_true, status_of
from kubectl_firebolt.names import CONTAINER_ENGINE, LABEL_ENGINE, LABEL_GENERATION
from kubectl_firebolt.picture.answers import Answer
from kubectl_firebolt.picture.recording import (
    GenerationSpan,
    Note,
    PhaseSpan,
    PodSpan,
    Recording,
    Serving,
    Step,
    Told,
)

T = TypeVar("T")


class OpenStep:
    """A step that has begun; what came of it can be said until it ends."""

    def __init__(self) -> None:
        self.outcome = ""


class Recorder:
    def __init__(self, engine: str, clock: Callable[[], float]) -> None:
        """The clock gives seconds since the beginning."""
        self._engine = engine
        self._clock = clock
        self._steps: list[Step] = []
        self._notes: list[Note] = []
        self._phases: list[tuple[float, str]] = []
        self._active: list[tuple[float, int]] = []
        self._generations: dict[str, GenerationSpan] = {}
        self._pods: dict[str, PodSpan] = {}

    @contextmanager
    def step(self, name: str, title: str) -> Generator[OpenStep]:
        began_at, opened = self._clock(), OpenStep()
        try:
            yield opened
        finally:
            ended = Step(name=name, title=title, began_at=began_at, ended_at=self._clock(), outcome=opened.outcome)
            self._steps.append(ended)

    def note(self, text: str) -> None:
        self._notes.append(Note(at=self._clock(), text=text))

    def engine(self, kind: str, manifest: Manifest) -> None:
        if manifest["metadata"]["name"] != self._engine or kind == "DELETED":
            return
        status = status_of(manifest)
        _append_change(self._phases, self._clock(), str(status.get("phase", "")))
        active = int(status.get("activeGeneration", -1))
        if active >= 0 and _append_change(self._active, self._clock(), active):
            self._note_switch(active)

    def statefulset(self, kind: str, manifest: Manifest) -> None:
        labels = manifest["metadata"].get("labels", {})
        uid = manifest["metadata"]["uid"]
        if labels.get(LABEL_ENGINE) != self._engine or (uid not in self._generations and _is_ending(kind, manifest)):
            return
        known = self._generations.setdefault(uid, _generation_span(manifest, self._clock()))
        if kind == "DELETED":
            self._generations[uid] = replace(known, ended_at=self._clock())
            self.note(f"g{known.number} deleted")

    def pod(self, kind: str, manifest: Manifest) -> None:
        uid = manifest["metadata"]["uid"]
        if uid not in self._pods and _is_ending(kind, manifest):
            return
        known = self._pods.get(uid) or _pod_span(manifest, self._clock())
        self._pods[uid] = _observed(known, kind, manifest, self._clock())

    def _note_switch(self, number: int) -> None:
        has_nodes = any(span.number == number and span.replicas for span in self._generations.values())
        self.note(f"g{number} gets the queries" if has_nodes else f"parked: g{number} has no nodes")

    def recording(self, told: Told, answers: Sequence[Answer]) -> Recording:
        now = self._clock()
        return Recording(
            engine=self._engine,
            seconds=now,
            told=told,
            steps=list(self._steps),
            phases=[
                PhaseSpan(phase=phase, began_at=began_at, ended_at=ended_at)
                for began_at, ended_at, phase in _spans(self._phases, now)
                if phase
            ],
            serving=[
                Serving(generation=number, began_at=began_at, ended_at=ended_at)
                for began_at, ended_at, number in _spans(self._active, now)
            ],
            generations=sorted(self._generations.values(), key=lambda span: span.number),
            pods=sorted(self._pods.values(), key=_pod_order),
            notes=list(self._notes),
            answers=list(answers),
        )


def _append_change(changes: list[tuple[float, T]], at: float, value: T) -> bool:
    if changes and changes[-1][1] == value:
        return False
    changes.append((at, value))
    return True


def _spans(changes: Sequence[tuple[float, T]], now: float) -> list[tuple[float, float, T]]:
    ends = [*(at for at, _ in changes), now][1:]
    return [(at, end, value) for (at, value), end in zip(changes, ends, strict=True)]


def _generation_span(manifest: Manifest, now: float) -> GenerationSpan:
    spec = manifest["spec"]
    containers: list[Manifest] = spec["template"]["spec"]["containers"]
    image = next((each["image"] for each in containers if each["name"] == CONTAINER_ENGINE), "")
    number = int(manifest["metadata"]["labels"][LABEL_GENERATION])
    return GenerationSpan(number=number, replicas=spec.get("replicas", 1), image=image, began_at=now)


def _pod_span(manifest: Manifest, now: float) -> PodSpan:
    metadata = manifest["metadata"]
    number = metadata.get("labels", {}).get(LABEL_GENERATION)
    return PodSpan(name=metadata["name"], generation=None if number is None else int(number), began_at=now)


def _observed(span: PodSpan, kind: str, manifest: Manifest, now: float) -> PodSpan:
    if span.ready_at is None and is_true(condition_of(manifest, "Ready")):
        span = replace(span, ready_at=now)
    if span.ending_at is None and manifest["metadata"].get("deletionTimestamp"):
        span = replace(span, ending_at=now)
    return replace(span, ended_at=now) if kind == "DELETED" else span


def _is_ending(kind: str, manifest: Manifest) -> bool:
    """What is on its way out when it is first seen belongs to an earlier story."""
    return kind == "DELETED" or bool(manifest["metadata"].get("deletionTimestamp"))


def _pod_order(span: PodSpan) -> tuple[int, str]:
    """The instance's first, then generation by generation."""
    return (-1 if span.generation is None else span.generation, span.name)
