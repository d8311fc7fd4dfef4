"""Where on the picture is a moment, and what do all lanes share?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_firebolt.picture import svg

WIDTH: Final = 1200.0
LEFT: Final = 184.0  # room for the names of lanes
RIGHT: Final = 16.0
PALETTE: Final = 6  # colours in the style sheet, gen-0 to gen-5
LETTER: Final = 6.1  # average width of one, at the size that lanes write in
BOLD_LETTER: Final = 6.9
_NICE_STEPS: Final = (5, 10, 15, 20, 30, 60, 120, 300)
_MOST_TICKS: Final = 16


@dataclass(frozen=True, slots=True)
class TimeAxis:
    seconds: float

    def x(self, at: float) -> float:
        share = min(max(at / self.seconds, 0.0), 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> list[int]:
        step = next((each for each in _NICE_STEPS if self.seconds / each <= _MOST_TICKS), _NICE_STEPS[-1])
        return list(range(0, int(self.seconds) + 1, step))


@dataclass(frozen=True, slots=True)
class Lane:
    """A strip of the picture; what is in it is drawn from its own upper edge."""

    name: str
    explanation: str
    height: float
    body: str


def stacked(lanes: Sequence[Lane], axis: TimeAxis, *, gap: float) -> tuple[str, float]:
    """All lanes below one another with their names beside them, and how high that is."""
    parts, top = list[str](), 0.0
    for lane in lanes:
        label = svg.text(0, 12, lane.name, class_="lane-name") + _explained(lane.explanation)
        rule = svg.line(0, -gap / 2, WIDTH, -gap / 2, class_="rule")
        parts.append(svg.tag("g", rule, label, lane.body, transform=f"translate(0 {top:g})"))
        top += lane.height + gap
    return svg.tag("g", _grid(axis, top - gap)) + "".join(parts), top - gap


def fits(words: str, width: float) -> bool:
    return len(words) * BOLD_LETTER + 8 <= width


def colour(generation: int | None) -> str:
    return "instance" if generation is None else f"gen-{generation % PALETTE}"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _explained(words: str) -> str:
    return "".join(svg.text(0, 27 + 13 * row, part, class_="aside") for row, part in enumerate(words.split("\n")))


def _grid(axis: TimeAxis, height: float) -> str:
    parts = [svg.line(axis.x(at), 0, axis.x(at), height, class_="grid") for at in axis.ticks()]
    parts += [svg.text(axis.x(at), height + 18, clock(at), class_="tick", text_anchor="middle") for at in axis.ticks()]
    return "".join(parts)
