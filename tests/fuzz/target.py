"""What is fuzzed: something that reads what a tenant can write, and how inputs for it are made."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.growth import Shape

PIECES: Final = (
    *("0", "1.", "9", "1h", ".", "a", "a.", "a-", "a/", "a:", "-", "_", "1e", "+", "x{", 'x{a="', "x ", " ", ",", "("),
    *("%41", "engine=a&", "&", "[", '{"a":', "\\", '"', "\n", "a\n", "=", "!a,", "\u00e9"),
)
ENDS: Final = ("", "!", "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    name: str
    make: Callable[[random.Random], Any]
    read: Callable[[Any], object]
    """Raises AssertionError for an answer that is wrong, one of the refusals for an input that is."""
    refusals: tuple[type[Exception], ...] = ()
    is_accepted: Callable[[object], bool] = bool
    """Whether the answer says that the input meant something."""
    findings: Sequence[Any] = ()
    """Inputs on which it failed once."""
    shapes: Sequence[Shape[Any]] = field(
        default_factory=lambda: [text_shape(piece, end=end) for piece in PIECES for end in ENDS]
    )


def text_shape(piece: str, begin: str = "", end: str = "!") -> Shape[str]:
    return lambda size: begin + piece * (size // len(piece)) + end


def bytes_shape(piece: str, begin: str = "", end: str = "!") -> Shape[bytes]:
    return lambda size: text_shape(piece, begin, end)(size).encode()


def anything(_: object) -> bool:
    """Every answer is one: zero is a duration."""
    return True


def is_known(answer: object) -> bool:
    return answer is not None
