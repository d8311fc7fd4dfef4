"""How does a recording look as a page that stands on its own: no script, no font and no picture from anywhere else?"""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

from firebolt_local.demo import svg
from firebolt_local.demo.canvas import WIDTH, TimeAxis, clock, colour, stacked
from firebolt_local.demo.charts import charts
from firebolt_local.demo.lanes import generations_lane, notes_lane, phases_lane, pods_lane, steps_lane
from firebolt_local.demo.recording import Highlight, PodSpan, Recording
from firebolt_local.testing.load_report import Totals, spoken, totals

_GAP: Final = 22.0
_TOP: Final = 16.0
_AXIS: Final = 34.0


def page(recording: Recording) -> str:
    total = totals(recording.answers)
    template = Template(files("firebolt_local.demo").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(f"Engine {recording.engine}: {_counts(total)}"),
        counts=_counts_marked(total),
        story=escape(recording.story),
        tiles=_tiles(recording, total),
        picture=picture(recording),
        steps=_steps(recording),
        generations=_generations(recording),
        pods=_pods(recording.pods),
        problems=_problems(recording),
        facts=_items(escape(fact) for fact in recording.facts),
        began=escape(recording.began),
        lasted=clock(recording.seconds),
    )


def picture(recording: Recording) -> str:
    axis = TimeAxis(max(recording.seconds, 1.0))
    lanes = [
        steps_lane(recording, axis),
        notes_lane(recording.notes, axis),
        phases_lane(recording, axis),
        generations_lane(recording, axis),
        pods_lane(recording, axis),
        *charts(recording.answers, axis),
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
    return f"{_counts(totals(recording.answers))}. {' '.join(steps)}"


def _stripes() -> str:
    stripe = svg.tag("path", d="M-1 7 L7 -1 M-1 3 L3 -1 M3 7 L7 3", class_="stripe")
    pattern = svg.tag(
        "pattern", stripe, id="stripes", width=6, height=6, patternUnits="userSpaceOnUse", class_="stripes"
    )
    return svg.tag("defs", pattern)


def _counts(total: Totals) -> str:
    return f"{total.queries:,} queries, {total.failed:,} failed"


def _counts_marked(total: Totals) -> str:
    kind = "bad" if total.failed else "good"
    return f'{total.queries:,} queries, <strong class="{kind}">{total.failed:,} failed</strong>'


def _tiles(recording: Recording, total: Totals) -> str:
    shown = [
        Highlight(value=spoken(total.p50), label="median latency"),
        Highlight(value=spoken(total.p99), label="99 % answered within"),
        *recording.highlights,
        Highlight(value=str(len(recording.generations)), label="generations built"),
        Highlight(value=str(sum(span.generation is not None for span in recording.pods)), label="engine pods started"),
    ]
    return "".join(f"<div><dt>{escape(tile.label)}</dt><dd>{escape(tile.value)}</dd></div>" for tile in shown)


def _steps(recording: Recording) -> str:
    return _items(
        f"<b>{escape(step.title)}.</b> {escape(step.outcome)} "
        f"<span>{clock(step.began_at)}, {step.ended_at - step.began_at:.1f} s</span>"
        for step in recording.steps
    )


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
    if not failed:
        return ""
    items = _items(f"<b>{clock(answer.ended_at)}</b> {escape(answer.problem)}" for answer in failed)
    return f"<section><h2>What failed</h2><ul>{items}</ul></section>"


def _items(entries: Iterable[str]) -> str:
    return "".join(f"<li>{entry}</li>" for entry in entries)


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>' for name, *cells in rows
    )
