"""Draws the dashboard from a Prometheus' own answers: `python -m scripts.draw_dashboard URL PICTURE [MINUTES]`.

Not a picture of Grafana: the places, titles and queries are those of the dashboard, the lines are drawn here.
"""

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firebolt_local.testing.prometheus_server import Line, Prometheus
from kubectl_firebolt.picture import svg
from scripts.write_dashboard import TARGET

COLUMN, ROW = 52.0, 22.0  # of Grafana's grid, in pixels
MARGIN: Final = 6.0
HEAD, FOOT = 26.0, 18.0  # of a panel: its title; the times
MOST_LEGENDS: Final = 6
COLOURS: Final = ("#2a78d6", "#d9480f", "#2b8a3e", "#9c36b5", "#e0a100", "#0b7285", "#c2255c", "#5c5f66")
VARIABLES: Final = {"$namespace": ".*", "$__rate_interval": "30s"}
STYLE: Final = (
    "text{font-family:system-ui,sans-serif;fill:#1f2933;font-size:11px}"
    ".title{font-size:12px;font-weight:600}.row{font-size:15px;font-weight:700}.faint{fill:#6b7785;font-size:10px}"
    ".number{font-size:26px;font-weight:700;fill:#2a78d6}.frame{fill:#fff;stroke:#d5dbe1}.grid{stroke:#edf0f3}"
    ".curve{fill:none;stroke-width:1.6;stroke-linecap:round}"
)


@dataclass(frozen=True, slots=True)
class Span:
    start: float
    end: float

    @property
    def step(self) -> float:
        return max((self.end - self.start) / 150, 1.0)


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float


def drawn(dashboard: Mapping[str, Any], prometheus: Prometheus, span: Span) -> str:
    panels = dashboard["panels"]
    parts = [_panel(panel, prometheus, span) for panel in panels]
    height = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels) * ROW + MARGIN
    back = svg.rect(0, 0, 24 * COLUMN, height, fill="#f4f6f8")
    head = svg.tag("style", STYLE)
    view = f"0 0 {24 * COLUMN:g} {height:g}"
    return svg.tag("svg", head, back, *parts, xmlns="http://www.w3.org/2000/svg", viewBox=view)


def _panel(panel: Mapping[str, Any], prometheus: Prometheus, span: Span) -> str:
    place = panel["gridPos"]
    box = Box(
        place["x"] * COLUMN + MARGIN / 2, place["y"] * ROW + MARGIN / 2,
        place["w"] * COLUMN - MARGIN, place["h"] * ROW - MARGIN,
    )  # fmt: skip
    if panel["type"] == "row":
        return svg.text(box.x + 4, box.y + ROW - 8, panel["title"], class_="row")
    frame = svg.rect(box.x, box.y, box.width, box.height, class_="frame", rx=3, tip=panel["description"])
    title = svg.text(box.x + 8, box.y + 17, panel["title"], class_="title")
    unit = panel["fieldConfig"]["defaults"]["unit"]
    found = [(target["legendFormat"], line) for target in panel["targets"] for line in _asked(target, prometheus, span)]
    body = _numbers(box, found, unit) if panel["type"] == "stat" else _graph(box, found, unit, span)
    return svg.tag("g", frame, title, body)


def _asked(target: Mapping[str, Any], prometheus: Prometheus, span: Span) -> list[Line]:
    query = target["expr"]
    for variable, value in VARIABLES.items():
        query = query.replace(variable, value)
    if target["instant"]:
        return prometheus.query(query)
    return prometheus.query_range(query, start=span.start, end=span.end, step=span.step)


def _numbers(box: Box, found: Sequence[tuple[str, Line]], unit: str) -> str:
    parts = [
        svg.text(box.x + 10, box.y + 50 + 26 * number, _spoken(line.points[-1][1], unit), class_="number")
        for number, (_, line) in enumerate(found[:2])
        if line.points
    ]
    return "".join(parts)


def _graph(box: Box, found: Sequence[tuple[str, Line]], unit: str, span: Span) -> str:
    legends = found[:MOST_LEGENDS]
    plot = Box(
        box.x + 46, box.y + HEAD + 4, box.width - 54, box.height - HEAD - FOOT - 10 - 13 * ((len(legends) + 2) // 3)
    )
    top = max((value for _, line in found for _, value in line.points), default=0.0) * 1.1 or 1.0
    parts = [_level(plot, share, _spoken(top * share, unit)) for share in (0.0, 0.5, 1.0)]
    for number, (_, line) in enumerate(found):
        for run in _runs(line.points, 2.5 * span.step):
            points = [
                (
                    plot.x + (at - span.start) / (span.end - span.start) * plot.width,
                    plot.y + (1 - value / top) * plot.height,
                )
                for at, value in _bends(run)
            ]
            parts.append(svg.path(points, class_="curve", stroke=COLOURS[number % len(COLOURS)]))
    parts.append(_times(plot, span))
    parts += [_legend(box, plot, number, _named(*each)) for number, each in enumerate(legends)]
    return "".join(parts)


def _runs(points: Sequence[tuple[float, float]], gap: float) -> list[list[tuple[float, float]]]:
    """Where nothing was told there is no line."""
    runs = list[list[tuple[float, float]]]()
    for point in points:
        if not runs or point[0] - runs[-1][-1][0] > gap:
            runs.append([])
        runs[-1].append(point)
    return runs


def _bends(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without what lies on a level line between two others, and nothing below 0, as on the dashboard."""
    level = [(at, max(value, 0.0)) for at, value in points]
    return [
        each
        for number, each in enumerate(level)
        if not (0 < number < len(level) - 1 and level[number - 1][1] == each[1] == level[number + 1][1])
    ]


def _level(plot: Box, share: float, words: str) -> str:
    y = plot.y + (1 - share) * plot.height
    rule = svg.line(plot.x, y, plot.x + plot.width, y, class_="grid")
    return rule + svg.text(plot.x - 4, y + 3, words, class_="faint", text_anchor="end")


def _times(plot: Box, span: Span) -> str:
    minutes = (span.end - span.start) / 60
    left = svg.text(plot.x, plot.y + plot.height + 12, f"-{minutes:.0f} min", class_="faint")
    return left + svg.text(plot.x + plot.width, plot.y + plot.height + 12, "now", class_="faint", text_anchor="end")


def _legend(box: Box, plot: Box, number: int, words: str) -> str:
    x, y = box.x + 10 + number % 3 * (box.width / 3 - 4), plot.y + plot.height + FOOT + 9 + 13 * (number // 3)
    mark = svg.rect(x, y - 8, 10, 4, fill=COLOURS[number % len(COLOURS)])
    return mark + svg.text(x + 14, y - 3, words if len(words) < 23 else words[:21] + "…", class_="faint")


def _named(legend: str, line: Line) -> str:
    words = re.sub(r"\{\{(\w+)\}\}", lambda found: line.labels.get(found[1], ""), legend).strip()
    return words or "(no engine)"


def _spoken(value: float, unit: str) -> str:
    if unit == "bytes":
        return f"{value / (1 << 20):.0f} MiB"
    if unit == "s":
        return _duration(value)
    return f"{value:.3g}" + ("/s" if unit == "ops" else "")


def _duration(seconds: float) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.2g} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def main(words: Sequence[str]) -> None:
    url, picture, minutes = words[0], Path(words[1]), float(words[2]) if len(words) > 2 else 10.0
    now = time.time()
    dashboard = json.loads(TARGET.read_text())
    picture.write_text(drawn(dashboard, Prometheus(url), Span(now - minutes * 60, now)))


if __name__ == "__main__":
    main(sys.argv[1:])
