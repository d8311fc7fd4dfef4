"""How did queries fare, second by second: how many, how long, how many failed?"""

import math
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from kubectl_firebolt.picture import svg
from kubectl_firebolt.picture.answers import Answer, Second, by_second, generation_of_pod, spoken
from kubectl_firebolt.picture.canvas import LEFT, WIDTH, Lane, TimeAxis, clock, colour

_RATE_HEIGHT: Final = 110.0
_LATENCY_HEIGHT: Final = 120.0
_FAILURE_HEIGHT: Final = 46.0
_DECADES: Final = (0.001, 0.01, 0.1, 1.0, 10.0)  # seconds
_DECADE_NAMES: Final = ("1 ms", "10 ms", "100 ms", "1 s", "10 s")
_UNKNOWN: Final = ""
_FEW: Final = 5  # answers in a second


def charts(answers: Sequence[Answer], axis: TimeAxis) -> list[Lane]:
    seconds = by_second(answers, _generation)
    return [_rate_lane(seconds, axis), _latency_lane(seconds, axis), _failures_lane(seconds, axis)]


def _generation(answer: Answer) -> str:
    number = generation_of_pod(answer.pod)
    return _UNKNOWN if number is None else str(number)


def _rate_lane(seconds: Sequence[Second], axis: TimeAxis) -> Lane:
    """One bar per second, stacked by the generation that answered."""
    top = _nice_top(max((second.answered for second in seconds), default=1))
    groups = sorted({group for second in seconds for group in second.by_group}, key=lambda name: int(name or -1))
    parts = [_scale(0, top, _RATE_HEIGHT, (0, top // 2, top))]
    for second in seconds:
        left, right = axis.x(second.at), axis.x(second.at + 1)
        base = _RATE_HEIGHT
        for group in groups:
            if count := second.by_group.get(group, 0):
                height = count / top * _RATE_HEIGHT
                base -= height
                by = f" by g{group}" if group else ""
                tip = f"{clock(second.at)}: {count} queries answered{by}"
                kind = colour(int(group)) if group else "instance"
                parts.append(svg.rect(left, base, right - left, height, class_=f"fill crisp {kind}", tip=tip))
    return Lane("Queries per second", "answered, by the\ngeneration that did", _RATE_HEIGHT, "".join(parts))


def _latency_lane(seconds: Sequence[Second], axis: TimeAxis) -> Lane:
    parts = [_level(_latency_y(value), name) for value, name in zip(_DECADES, _DECADE_NAMES, strict=True)]
    steady = [second for second in seconds if second.answered >= _FEW]
    for kind, value_of in (("p99", attrgetter("p99")), ("p50", attrgetter("p50"))):
        points = [(second.at, value_of(second)) for second in steady]
        parts += [_latency_line(run, axis, kind) for run in _runs(points)]
    parts += [_latency_dot(second, axis) for second in seconds if 0 < second.answered < _FEW]
    legend = svg.line(0, 51, 18, 51, class_="p50") + svg.text(24, 55, "median (p50)", class_="aside")
    legend += svg.line(0, 67, 18, 67, class_="p99") + svg.text(24, 71, "slowest 1 % (p99)", class_="aside")
    legend += svg.tag("circle", cx=9, cy=83, r=3.5, class_="dot") + svg.text(24, 87, "a lone query", class_="aside")
    return Lane("Latency", "logarithmic", _LATENCY_HEIGHT, "".join(parts) + legend)


def _failures_lane(seconds: Sequence[Second], axis: TimeAxis) -> Lane:
    worst = max((second.failed for second in seconds), default=0)
    top = _nice_top(worst) if worst else 1
    parts = [_scale(0, top, _FAILURE_HEIGHT, (0, top) if worst else (0,))]
    for second in seconds:
        if second.failed:
            height = second.failed / top * _FAILURE_HEIGHT
            tip = f"{clock(second.at)}: {second.failed} queries failed"
            left = axis.x(second.at)
            width = axis.x(second.at + 1) - left
            parts.append(svg.rect(left, _FAILURE_HEIGHT - height, width, height, class_="failed", tip=tip))
    if not worst:
        middle = (LEFT + WIDTH) / 2
        parts.append(svg.text(middle, 28, "no query failed", class_="none", text_anchor="middle"))
    return Lane("Failures per second", "", _FAILURE_HEIGHT, "".join(parts))


def _runs(points: Sequence[tuple[int, float]]) -> list[list[tuple[int, float]]]:
    """A line is broken where nobody asked: nothing is known of that time."""
    keyed = groupby(enumerate(points), key=lambda item: item[1][0] - item[0])
    return [[point for _, point in run] for _, run in keyed]


def _latency_line(run: Sequence[tuple[int, float]], axis: TimeAxis, kind: str) -> str:
    return svg.path([(axis.x(at + 0.5), _latency_y(value)) for at, value in run], class_=kind)


def _latency_dot(second: Second, axis: TimeAxis) -> str:
    """Percentiles of one or two queries say nothing: the slowest of them is shown."""
    slowest = second.p99 or 0.0
    tip = f"{clock(second.at)}: {second.answered} answered, after {spoken(slowest)} at most"
    return svg.tag("circle", *svg.hint(tip), cx=axis.x(second.at + 0.5), cy=_latency_y(slowest), r=3.5, class_="dot")


def _latency_y(seconds: float) -> float:
    low, high = math.log10(_DECADES[0]), math.log10(_DECADES[-1])
    share = (math.log10(max(seconds, _DECADES[0])) - low) / (high - low)
    return _LATENCY_HEIGHT * (1 - min(share, 1.0))


def _scale(low: int, high: int, height: float, values: Sequence[int]) -> str:
    return "".join(_level(height - (value - low) / (high - low) * height, str(value)) for value in values)


def _level(y: float, name: str) -> str:
    return svg.line(LEFT, y, WIDTH, y, class_="level") + svg.text(
        LEFT - 6, y + 4, name, class_="tick", text_anchor="end"
    )


def _nice_top(value: int) -> int:
    """The next of 2, 4, 6, 10, 20, 40, 60, 100 and so on: round at the top and at half of it."""
    power = int(10 ** math.floor(math.log10(max(value, 1))))
    return next(each * power for each in (2, 4, 6, 10, 20) if each * power >= value)
