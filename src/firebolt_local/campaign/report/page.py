"""How does a campaign look as one page for people, which needs nothing from anywhere else?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from firebolt_local.campaign.report.comparison import Changes
from firebolt_local.campaign.report.results import Outcome, Result, counted, totals


@dataclass(frozen=True, slots=True)
class Told:
    """What the page says besides the results."""

    start: str  # the operator's command
    seconds: float
    repeat: str  # the command in front of a line that shows it again


def page(results: Mapping[str, Result], told: Told, changes: Changes | None = None) -> str:
    template = Template(files("firebolt_local.campaign.report").joinpath("page.html").read_text(encoding="utf-8"))
    every = list(results.values())
    broken = [each for each in every if each.outcome is Outcome.BROKEN]
    return template.substitute(
        headline=escape(_headline(every, broken)),
        start=escape(told.start),
        lasted=escape(f"{told.seconds / 60:.1f} min"),
        verdict="bad" if broken else "good",
        tried=_tried(every),
        totals=_lines(f"{name}: {count}" for name, count in sorted(totals(every).items())),
        broken="".join(_broken(each, told.repeat) for each in broken) or "<p>Nothing.</p>",
        missed=_lines(each.line for each in every if each.outcome is Outcome.NOT_REACHED),
        changes=_changes(changes),
    )


def _headline(every: Sequence[Result], broken: Sequence[Result]) -> str:
    words = f"{len(every)} cases, {len(broken)} broken"
    return words if broken else f"{words}: everything ended as it would have without a fault"


def _tried(every: Iterable[Result]) -> str:
    rows: list[str] = []
    for (part, kind), counts in sorted(counted(every).items()):
        cells = [part, kind, *(str(counts[outcome]) for outcome in Outcome)]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return "".join(rows)


def _broken(result: Result, repeat: str) -> str:
    shown = f" <small>shown {escape(result.shown)}</small>" if result.shown else ""
    problems = _lines(result.problems)
    again = escape(f"{repeat} '{result.line}'")
    return f"<section><h3>{escape(result.line)}{shown}</h3>{problems}<pre>{again}</pre></section>"


def _changes(changes: Changes | None) -> str:
    if changes is None:
        return ""
    parts = (("Broken now, not before", changes.newly_broken), ("Mended since", changes.mended))
    tried = f"<p>{changes.tried_before} cases before, {changes.tried_now} now.</p>"
    return (
        "<h2>Against the earlier report</h2>"
        + tried
        + "".join(f"<h3>{escape(title)}: {len(lines)}</h3>{_lines(lines)}" for title, lines in parts)
    )


def _lines(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else "<p>None.</p>"
