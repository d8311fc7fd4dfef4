"""Inputs that nobody would write: valid ones, spliced, cut, repeated, and with all that parsers trip over in them.

Every choice is drawn from the generator that is given: a seed repeats a run, and Hypothesis can shrink what it finds.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

LONGEST: Final = 6_000  # characters, more than Python takes for a number; longer inputs are for growth
HOSTILE: Final = (
    "",
    "\x00",
    "\r\n",
    "\n",
    "\t",
    "\x7f",
    "\x85",
    "\ud800",
    "\udcff",
    "\ufeff",
    "\u202e",
    "\u2028",
    "\uffff",
    "\U0001f525",
    "\u00e9",
    "\u00b5",
    "\u0663",  # a digit to Python, not to Go
    "\u00b2",
    "%",
    "%00",
    "%zz",
    "%2F",
    "..",
    "/",
    "\\",
    '"',
    "'",
    "`",
    "{",
    "}",
    "[",
    "]",
    "(",
    "-",
    "+",
    "_",
    ".",
    ",",
    ":",
    ";",
    "@",
    "#",
    "=",
    "&",
    "e",
    "0",
    "-1",
    "1_0",
    "0x1",
    "1e999",
    "NaN",
    "inf",
    "null",
    "9" * 20,
    "9" * 70,
    "0" * 65,
    "9" * 400,
    " ",
    "[" * 60,
    '{"a":' * 60,
)
TIMES: Final = (2, 3, 8, 64, 300)
Edit = Callable[[random.Random, str, Sequence[str]], str]


def _span(rng: random.Random, text: str) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + rng.randrange(8))


def _insert(rng: random.Random, text: str, pieces: Sequence[str]) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(pieces) + text[at:]


def _replace(rng: random.Random, text: str, pieces: Sequence[str]) -> str:
    start, end = _span(rng, text)
    return text[:start] + rng.choice(pieces) + text[end:]


def _delete(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start, end = _span(rng, text)
    return text[:start] + text[end:]


def _repeat(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start, end = _span(rng, text)
    return text[:start] + text[start:end] * rng.choice(TIMES) + text[end:]


def _cut(rng: random.Random, text: str, _: Sequence[str]) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _splice(rng: random.Random, text: str, pieces: Sequence[str]) -> str:
    other = rng.choice(pieces)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def _swap_case(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start, end = _span(rng, text)
    return text[:start] + text[start:end].swapcase() + text[end:]


def _escape(rng: random.Random, text: str, _: Sequence[str]) -> str:
    start, end = _span(rng, text)
    octets = text[start:end].encode(errors="surrogatepass")
    return text[:start] + "".join(f"%{octet:02x}" for octet in octets) + text[end:]


EDITS: Final[tuple[Edit, ...]] = (_insert, _replace, _delete, _repeat, _cut, _splice, _swap_case, _escape)


def mutated(rng: random.Random, valid: str, pieces: Sequence[str], *, untouched: float = 0.3) -> str:
    """`valid` as it is, or after a few edits with `pieces` of other valid inputs, or with what is hostile anywhere."""
    if rng.random() < untouched:
        return valid
    text = valid
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = rng.choice(EDITS)(rng, text, rng.choice((pieces, HOSTILE)))
    return text[:LONGEST]


def texts(valid: Sequence[str], *, untouched: float = 0.3) -> Callable[[random.Random], str]:
    return lambda rng: mutated(rng, rng.choice(valid), valid, untouched=untouched)


def composed(make: Callable[[random.Random], str], *, untouched: float = 0.3) -> Callable[[random.Random], str]:
    """Edits of what a grammar makes."""

    def made(rng: random.Random) -> str:
        return mutated(rng, make(rng), (make(rng), make(rng)), untouched=untouched)

    return made


def octets(rng: random.Random, text: str) -> bytes:
    """As bytes, now and then with some that are no text."""
    body = text.encode(errors="surrogatepass")
    if rng.random() < 0.1:
        at = rng.randrange(len(body) + 1)
        body = body[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(4))) + body[at + 1 :]
    return body


WORDS: Final = (
    "",
    "a",
    "engine",
    "metadata",
    "envoy",
    "name",
    "data",
    "x-engine-tls",
    "latest",
    "1Gi",
    "0",
    "\x00",
    "é",
)
NUMBERS: Final = (0, 1, -1, 3473, 2**31, 2**63, 2**64, 18446744073709552000, 10**30, 0.5, 1e300, -1e-300)


def odd_value(rng: random.Random, levels: int = 3) -> Any:
    """Any JSON value at all."""
    kind = rng.randrange(8 if levels else 6)
    if kind < 2:
        return rng.choice(WORDS)
    if kind == 2:
        return rng.choice(NUMBERS)
    if kind == 3:
        return rng.choice((True, False, None))
    if kind in {4, 5}:
        return rng.choice(([], {}, "", "x" * 300))
    if kind == 6:
        return [odd_value(rng, levels - 1) for _ in range(rng.randrange(4))]
    return {rng.choice(WORDS): odd_value(rng, levels - 1) for _ in range(rng.randrange(4))}


def deep_value(rng: random.Random) -> Any:
    """Nested as deeply as an API server stores it and a decoder reads it."""
    value: Any = rng.choice(WORDS)
    for _ in range(rng.choice((5, 60, 120, 250))):
        value = [value] if rng.random() < 0.3 else {rng.choice(("a", "engine", "")): value}
    return value
