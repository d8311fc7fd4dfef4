"""Where do the parts of a JSON text begin and end? Without recursion: no text is nested too deeply for this.

Only what the decoder gave up on comes here. Spans are found, not judged: the decoder looks at each of them again.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

LEVELS_AT_ONCE: Final = 4
_STRING_PATTERN: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'  # possessive: nothing is remembered for a second try
_ATOM: Final = rb'[^"\[\]{}]++|' + _STRING_PATTERN


class Span(NamedTuple):
    start: int
    end: int
    depth: int = 0  # how deep its brackets are nested; the innermost levels are not counted


def _shallow_pattern() -> bytes:
    """What is nested a few levels deep only is passed over in one go, at the speed of C."""
    pattern = b"(?:" + _ATOM + b")*+"
    for _ in range(LEVELS_AT_ONCE):
        pattern = b"(?:" + _ATOM + rb"|[\[{]" + pattern + rb"[\]}])*+"
    return pattern


_SHALLOW: Final = re.compile(_shallow_pattern(), re.DOTALL)
_BRACKETS: Final = re.compile(rb"[\[{]++|[\]}]++")  # as many as follow each other, of one direction
_STRING: Final = re.compile(_STRING_PATTERN, re.DOTALL)
_SCALAR: Final = re.compile(rb'[^"\[\]{},: \t\r\n]++')
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")


def members(text: bytes, at: int = 0) -> Iterator[tuple[str, Span]]:
    """Name and value of each member of the object that begins here; raises ValueError if there is none."""
    at = _past(text, at, b"{")
    while text[at : at + 1] != b"}":
        name = _value(text, at)
        value = _value(text, _past(text, name.end, b":"))
        yield msgspec.json.decode(text[name.start : name.end], type=str), value
        at = _next(text, value.end, b"}")


def elements(text: bytes, at: int = 0) -> Iterator[Span]:
    """Each element of the array that begins here; raises ValueError if there is none."""
    at = _past(text, at, b"[")
    while text[at : at + 1] != b"]":
        value = _value(text, at)
        yield value
        at = _next(text, value.end, b"]")


def _next(text: bytes, at: int, closing: bytes) -> int:
    at = _past_space(text, at)
    return at if text[at : at + 1] == closing else _past(text, at, b",")


def _past(text: bytes, at: int, token: bytes) -> int:
    at = _past_space(text, at)
    if text[at : at + 1] != token:
        raise ValueError(f"expected {token.decode()!r} at byte {at}")
    return _past_space(text, at + 1)


def _past_space(text: bytes, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _value(text: bytes, at: int) -> Span:
    first = text[at : at + 1]
    if first in {b"{", b"["}:
        return _container(text, at)
    found = (_STRING if first == b'"' else _SCALAR).match(text, at)
    if found is None:
        raise ValueError(f"expected a value at byte {at}")
    return Span(at, found.end())


def _container(text: bytes, start: int) -> Span:
    depth = deepest = 0
    at = start
    while brackets := _BRACKETS.match(text, at):
        at, end = brackets.span()
        if text[at] in b"[{":
            depth += end - at
            deepest = max(deepest, depth)
        elif depth > end - at:
            depth -= end - at
        else:
            return Span(start, at + depth, deepest)
        passed = _SHALLOW.match(text, end)
        at = end if passed is None else passed.end()
    raise ValueError("the text ends in the middle of a value")
