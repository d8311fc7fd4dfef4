"""How do steps, phases, generations and pods look along the time axis?"""

from collections.abc import Sequence
from typing import Final

from kubectl_firebolt.names import EnginePhase
from kubectl_firebolt.picture import svg
from kubectl_firebolt.picture.canvas import LEFT, LETTER, WIDTH, Lane, TimeAxis, clock, colour, fits
from kubectl_firebolt.picture.recording import GenerationSpan, Note, PodSpan, Recording, Serving

_STEP_HEIGHT: Final = 26.0
_NOTE_ROW: Final = 16.0
_PHASE_HEIGHT: Final = 24.0
_LEGEND_HEIGHT: Final = 20.0
_GENERATION_ROW: Final = 22.0
_POD_ROW: Final = 13.0
_POD_GROUP_GAP: Final = 5.0


def steps_lane(recording: Recording, axis: TimeAxis) -> Lane:
    parts = list[str]()
    for number, step in enumerate(recording.steps, start=1):
        left, right = axis.x(step.began_at), axis.x(step.ended_at)
        tip = f"{number}. {step.title} ({clock(step.began_at)} to {clock(step.ended_at)}). {step.outcome}"
        parts.append(svg.rect(left + 1, 0, right - left - 2, _STEP_HEIGHT, class_="step", rx=4, tip=tip))
        words = f"{number} {step.name}"
        shown = words if fits(words, right - left) else str(number)
        parts.append(svg.text((left + right) / 2, 17, shown, class_="step-name", text_anchor="middle"))
    return Lane("Steps", "", _STEP_HEIGHT, "".join(parts))


def notes_lane(notes: Sequence[Note], axis: TimeAxis) -> Lane:
    """Each note in the first row that has room for it."""
    row_ends, parts = list[float](), list[str]()
    for note in sorted(notes, key=lambda each: each.at):
        x, width = axis.x(note.at), len(note.text) * 5.9 + 14
        is_flipped = x + width > WIDTH
        left = x - width if is_flipped else x
        row = next((index for index, end in enumerate(row_ends) if end <= left), len(row_ends))
        row_ends[row : row + 1] = [left + width]
        y = row * _NOTE_ROW + 11
        anchor, offset = ("end", -7.0) if is_flipped else ("start", 7.0)
        parts.append(svg.tag("circle", cx=x, cy=y - 4, r=3, class_="note-dot"))
        parts.append(svg.text(x + offset, y, note.text, class_="note", text_anchor=anchor))
    return Lane("What happened", "", max(len(row_ends), 1) * _NOTE_ROW, "".join(parts))


def phases_lane(recording: Recording, axis: TimeAxis) -> Lane:
    parts = list[str]()
    for span in recording.phases:
        left, width = axis.x(span.began_at), axis.x(span.ended_at) - axis.x(span.began_at)
        tip = f"{span.phase}, {span.ended_at - span.began_at:.1f} s from {clock(span.began_at)}"
        parts.append(svg.rect(left, 0, width, _PHASE_HEIGHT, class_=f"phase phase-{span.phase}", tip=tip))
        if fits(span.phase, width):
            parts.append(svg.text(left + width / 2, 16, span.phase, class_="phase-name", text_anchor="middle"))
    return Lane("Phase", "of the engine", _PHASE_HEIGHT + _LEGEND_HEIGHT, "".join(parts) + _phase_legend())


def _phase_legend() -> str:
    parts, left = list[str](), LEFT
    for phase in (each for each in EnginePhase if each):
        parts.append(svg.rect(left, _PHASE_HEIGHT + 9, 9, 9, class_=f"phase-{phase}", rx=2))
        parts.append(svg.text(left + 14, _PHASE_HEIGHT + 17, phase, class_="aside"))
        left += len(phase) * LETTER + 34
    return "".join(parts)


def generations_lane(recording: Recording, axis: TimeAxis) -> Lane:
    parts = list[str]()
    for row, span in enumerate(recording.generations):
        serving = [each for each in recording.serving if each.generation == span.number]
        parts.append(_generation(span, serving, axis, recording.seconds, top=row * _GENERATION_ROW))
    height = max(len(recording.generations) * _GENERATION_ROW, 40)
    return Lane("Generations", "outlined: exists\nfilled: gets queries", height, "".join(parts))


def pods_lane(recording: Recording, axis: TimeAxis) -> Lane:
    parts, top, group = list[str](), 0.0, recording.pods[0].generation if recording.pods else None
    for span in recording.pods:
        if span.generation != group:
            group, top = span.generation, top + _POD_GROUP_GAP
        parts.append(_pod(span, axis, recording.seconds, top))
        top += _POD_ROW
    return Lane("Pods", "pale: starting\nfilled: ready\nstriped: ending", max(top, 56), "".join(parts))


def _generation(span: GenerationSpan, serving: Sequence[Serving], axis: TimeAxis, end: float, *, top: float) -> str:
    left = axis.x(span.began_at)
    width = axis.x(span.ended_at or end) - left
    nodes = f"{span.replicas} node{'' if span.replicas == 1 else 's'}"
    name, tag = f"g{span.number}: {nodes}", _shortened(span.image.rpartition(":")[2])
    tip = f"Generation {span.number}: {nodes}, image {span.image}, from {clock(span.began_at)}"
    kind = colour(span.number)
    parts = [svg.rect(left, top + 2, width, _GENERATION_ROW - 5, class_=f"outline {kind}", rx=3, tip=tip)]
    for each in serving:
        begin, stop = axis.x(each.began_at), axis.x(min(each.ended_at, span.ended_at or end))
        parts.append(svg.rect(begin, top + 2, stop - begin, _GENERATION_ROW - 5, class_=f"fill {kind}", rx=3, tip=tip))
    return "".join(parts) + _beside(f"{name}, image {tag}", left, left + width, top + 14)


def _shortened(tag: str) -> str:
    """Both ends: versions differ at either."""
    return tag if len(tag) <= 24 else f"{tag[:13]}\u2026{tag[-9:]}"


def _beside(words: str, left: float, right: float, y: float) -> str:
    """Right of the bar, or left of it where time ends."""
    if right + len(words) * LETTER + 10 < WIDTH:
        return svg.text(right + 6, y, words, class_="beside")
    return svg.text(left - 6, y, words, class_="beside", text_anchor="end")


def _pod(span: PodSpan, axis: TimeAxis, end: float, top: float) -> str:
    kind, gone_at = colour(span.generation), span.ended_at or end
    ready_at = span.ready_at if span.ready_at is not None else gone_at
    ending_at = span.ending_at if span.ending_at is not None else gone_at
    tip = f"{span.name}: {_life(span)}"
    parts = [svg.rect(LEFT, top, WIDTH - LEFT, _POD_ROW, class_="row", tip=tip)]
    for begin, stop, look in (
        (span.began_at, min(ready_at, ending_at), "pale"),
        (ready_at, ending_at, "fill"),
        (ending_at, gone_at, "ending"),
    ):
        if stop > begin:
            left = axis.x(begin)
            width = axis.x(stop) - left
            parts.append(svg.rect(left, top + 2, width, _POD_ROW - 4, class_=f"{look} {kind}", tip=tip))
            if look == "ending":
                parts.append(svg.rect(left, top + 2, width, _POD_ROW - 4, class_="striped"))
    return "".join(parts) + _pod_name(span, axis, gone_at, top + 10)


def _pod_name(span: PodSpan, axis: TimeAxis, gone_at: float, y: float) -> str:
    left, right, length = axis.x(span.began_at), axis.x(gone_at), len(span.name) * 5.4 + 8
    if right + length < WIDTH:
        return svg.text(right + 4, y, span.name, class_="pod-name")
    if left - length > LEFT:
        return svg.text(left - 4, y, span.name, class_="pod-name", text_anchor="end")
    return svg.text(right - 5, y, span.name, class_="pod-name on-bar", text_anchor="end")


def _life(span: PodSpan) -> str:
    words = [f"created {clock(span.began_at)}" if span.ready_at != span.began_at else "ready when first seen"]
    if span.ready_at is not None and span.ready_at > span.began_at:
        words.append(f"ready after {span.ready_at - span.began_at:.1f} s")
    if span.ending_at is not None:
        words.append(f"asked to end {clock(span.ending_at)}")
    if span.ended_at is not None:
        words.append(f"gone {clock(span.ended_at)}")
    return ", ".join(words)
