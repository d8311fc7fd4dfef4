"""What span of time does this text mean? Kubernetes durations (`1h30m`) and the engine's own (`1d12h`)."""

import re
from datetime import timedelta
from fractions import Fraction
from typing import Final

from firebolt_operator.api.texts import MOST_CHARACTERS, shortened

_NANOSECONDS: Final = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,  # micro sign
    "\u03bcs": 1_000,  # Greek mu
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_WITH_DAYS: Final = _NANOSECONDS | {"d": 24 * _NANOSECONDS["h"]}
# Nothing is tried twice (possessive repetitions): the time to refuse a text grows with its length, not faster.
_COMPONENT: Final = re.compile(r"([0-9.]++)([^0-9.]++)")
_WHOLE: Final = re.compile(rf"(?:{_COMPONENT.pattern})++")
_NUMBER: Final = re.compile(r"[0-9]++\.?+[0-9]*+|\.[0-9]++")
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1  # Kubernetes counts nanoseconds in 64 bits


def parse_duration(text: str) -> timedelta:
    """A Kubernetes duration; there is no unit for days."""
    return _as_timedelta(_nanoseconds(text, _NANOSECONDS))


def parse_engine_duration(text: str) -> timedelta:
    """A duration as the engine reads it: like Kubernetes, and `d` is 24 hours."""
    return _as_timedelta(_nanoseconds(text, _WITH_DAYS))


def format_duration(duration: timedelta) -> str:
    """As Kubernetes prints it: `24h0m0s`, `1m30s`, `1.5s`, `20ms`, `0s`."""
    microseconds = abs(duration) // timedelta(microseconds=1)
    sign = "-" if duration < timedelta(0) else ""
    if microseconds < 1_000_000:
        return sign + _below_a_second(microseconds)
    seconds, fraction = divmod(microseconds, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(seconds * 1_000_000 + fraction, 6)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else sign + text


def _nanoseconds(text: str, units: dict[str, int]) -> int:
    body = text[1:] if text[:1] in {"+", "-"} else text
    if body == "0":
        return 0
    if len(text) > MOST_CHARACTERS or _WHOLE.fullmatch(body) is None:
        raise _malformed(text, units)
    total = sum(_component(component, units, text) for component in _COMPONENT.finditer(body))
    signed = -total if text.startswith("-") else total
    if not _LOWEST <= signed <= _HIGHEST:
        raise ValueError(f'"{text}" is longer than a duration can be, about 292 years')
    return signed


def _component(match: re.Match[str], units: dict[str, int], text: str) -> int:
    number, unit = match[1], match[2]
    if not _NUMBER.fullmatch(number) or unit not in units:
        raise _malformed(text, units)
    whole, _, decimals = number.partition(".")
    # Each component is cut to whole nanoseconds by itself, as Kubernetes does.
    return int(Fraction(int(f"{whole}{decimals}"), 10 ** len(decimals)) * units[unit])


def _malformed(text: str, units: dict[str, int]) -> ValueError:
    example = "30s, 1h30m or 1d" if "d" in units else "30s or 1h30m"
    return ValueError(f'"{shortened(text)}" is not a duration; write it like {example}')


def _as_timedelta(nanoseconds: int) -> timedelta:
    # Away from zero: a positive duration must not become "none" because Python counts in microseconds.
    microseconds = -(-abs(nanoseconds) // 1000)
    return timedelta(microseconds=microseconds if nanoseconds >= 0 else -microseconds)


def _below_a_second(microseconds: int) -> str:
    if microseconds == 0:
        return "0s"
    return f"{microseconds}\u00b5s" if microseconds < 1000 else f"{_decimal(microseconds, 3)}ms"


def _decimal(value: int, places: int) -> str:
    whole, rest = divmod(value, 10**places)
    fraction = f"{rest:0{places}d}".rstrip("0")
    return f"{whole}.{fraction}" if fraction else str(whole)
