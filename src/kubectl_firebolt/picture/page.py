"""How does a recording look as a page that stands on its own: no script, no font and no picture from anywhere else?"""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from kubectl_firebolt.picture import svg
from kubectl_firebolt.picture.answers import spoken, totals
from kubectl_firebolt.picture.canvas import WIDTH, TimeAxis, clock, colour, stacked
from kubectl_firebolt.picture.charts import charts
from kubectl_firebolt.picture.lanes import generations_lane, notes_lane, phases_lane, pods_lane, steps_lane
from kubectl_firebolt.picture.recording import Highlight, PodSpan, Recording

_GAP: Final = 22.0
_TOP: Final = 16.0
_AXIS: Final = 34.0


def page(recording: Recording) -> str:
    template = Template(files("kubectl_firebolt.picture").joinpath("page.html").read_text(encoding="utf-8"))
    told = recording.told
    return template.substitute(
        title=escape(f"Engine {recording.engine}: {_headline(recording)}"),
        kicker=escape(told.kicker),
        headline=_headline_marked(recording),
        story=escape(f"while {told.story}" if recording.answers else told.story),
        tiles=_tiles(recording),
        picture=picture(recording),
        steps=_section("Step by step", "ol", _steps(recording)),
        generations=_generations(recording),
        pods=_pods(recording.pods),
        problems=_problems(recording),
        facts=_section("What it ran on", "ul", map(escape, told.facts)),
        began=escape(told.began),
        since=escape(told.since),
        lasted=clock(recording.seconds),
    )


def picture(recording: Recording) -> str:
    axis = TimeAxis(max(recording.seconds, 1.0))
    lanes = [
        *([steps_lane(recording, axis)] if recording.steps else []),
        notes_lane(recording.notes, axis),
        phases_lane(recording, axis),
        generations_lane(recording, axis),
        pods_lane(recording, axis),
        *(charts(recording.answers, axis) if recording.answers else []),
    ]
    drawn, height = stacked(lanes, axis, gap=_GAP)
    marks = "".join(
        svg.line(axis.x(note.at), 30, axis.x(note.at), height, class_="note-line") for note in recording.notes
    )
    return svg.tag(
        "svg",
        svg.tag("title", "What happened, on one time axis", id="picture-title"),
        svg.tag("desc", escape(_in_words(recording)), id="picture-words"),
        _stripes(),
        svg.tag("g", marks, drawn, transform=f"translate(0 {_TOP:g})"),
        viewBox=f"0 0 {WIDTH:g} {height + _TOP + _AXIS:g}",
        role="img",
        aria_labelledby="picture-title picture-words",
    )


def _in_words(recording: Recording) -> str:
    """The picture for those who do not see it."""
    steps = [f"At {clock(step.began_at)}: {step.title}. {step.outcome}".strip() for step in recording.steps]
    return f"{_headline(recording)}. {' '.join(steps)}"


def _stripes() -> str:
    stripe = svg.tag("path", d="M-1 7 L7 -1 M-1 3 L3 -1 M3 7 L7 3", class_="stripe")
    pattern = svg.tag(
        "pattern", stripe, id="stripes", width=6, height=6, patternUnits="userSpaceOnUse", class_="stripes"
    )
    return svg.tag("defs", pattern)


def _headline(recording: Recording) -> str:
    """Where nobody asked, what was built is all there is to tell."""
    if recording.answers:
        total = totals(recording.answers)
        return f"{total.queries:,} queries, {total.failed:,} failed"
    return f"{_many(len(recording.generations), 'generation')}, {_many(_engine_pods(recording), 'pod')}"


def _headline_marked(recording: Recording) -> str:
    if not recording.answers:
        return escape(f"{recording.engine}: {_headline(recording)}")
    total = totals(recording.answers)
    kind = "bad" if total.failed else "good"
    return f'{total.queries:,} queries, <strong class="{kind}">{total.failed:,} failed</strong>'


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _engine_pods(recording: Recording) -> int:
    return sum(span.generation is not None for span in recording.pods)


def _latencies(recording: Recording) -> list[Highlight]:
    if not recording.answers:
        return []
    total = totals(recording.answers)
    return [
        Highlight(value=spoken(total.p50), label="median latency"),
        Highlight(value=spoken(total.p99), label="99 % answered within"),
    ]


def _tiles(recording: Recording) -> str:
    shown = [*_latencies(recording), *recording.told.highlights]
    if recording.answers:  # otherwise the headline says so
        shown.append(Highlight(value=str(len(recording.generations)), label="generations built"))
        shown.append(Highlight(value=str(_engine_pods(recording)), label="engine pods started"))
    return "".join(f"<div><dt>{escape(tile.label)}</dt><dd>{escape(tile.value)}</dd></div>" for tile in shown)


def _steps(recording: Recording) -> list[str]:
    return [
        f"<b>{escape(step.title)}.</b> {escape(step.outcome)} "
        f"<span>{clock(step.began_at)}, {step.ended_at - step.began_at:.1f} s</span>"
        for step in recording.steps
    ]


def _generations(recording: Recording) -> str:
    rows = list[Sequence[str]]()
    for span in recording.generations:
        ended = "" if span.ended_at is None else clock(span.ended_at)
        served = sum(each.ended_at - each.began_at for each in recording.serving if each.generation == span.number)
        name = f'<i class="chip {colour(span.number)}"></i>g{span.number}'
        words = (str(span.replicas), escape(span.image), clock(span.began_at), f"{served:.0f} s", ended)
        rows.append((name, *words))
    return _rows(rows)


def _pods(spans: Sequence[PodSpan]) -> str:
    return _rows(
        (
            f'<i class="chip {colour(span.generation)}"></i>{escape(span.name)}',
            clock(span.began_at),
            "" if span.ready_at is None else f"{span.ready_at - span.began_at:.1f} s",
            "" if span.ended_at is None else clock(span.ended_at),
        )
        for span in spans
    )


def _problems(recording: Recording) -> str:
    """The first failures in their own words; nothing if there were none."""
    failed = [answer for answer in recording.answers if not answer.is_good][:20]
    words = (f"<b>{clock(answer.ended_at)}</b> {escape(answer.problem)}" for answer in failed)
    return _section("What failed", "ul", words)


def _section(title: str, kind: str, entries: Iterable[str]) -> str:
    """Nothing if there is nothing to list."""
    items = "".join(f"<li>{entry}</li>" for entry in entries)
    return f"<section><h2>{title}</h2><{kind}>{items}</{kind}></section>" if items else ""


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>' for name, *cells in rows
    )
