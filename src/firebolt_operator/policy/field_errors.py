"""What is wrong with a field, and how that is put in words for denials and conditions alike."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

MAX_TEXT: Final = 16_384
"""Longest aggregated text: a condition's message may have 32768 characters, and callers add words around ours."""
MOST_ERRORS: Final = 400
"""That one check looks for: more do not fit into the text, and whoever writes thousands must not keep us busy."""


@dataclass(frozen=True, slots=True)
class Path:
    """Where a field is: `Path("spec").child("template").child("volumes").at(0)`."""

    text: str

    def child(self, *names: str) -> "Path":
        return Path(".".join((self.text, *names)))

    def at(self, place: int | str) -> "Path":
        """An element of a list by index, or of a map or a named list by key."""
        return Path(f"{self.text}[{place}]")

    def __str__(self) -> str:
        return self.text


class Kind(StrEnum):
    FORBIDDEN = "Forbidden"
    REQUIRED = "Required value"
    INVALID = "Invalid value"
    DUPLICATE = "Duplicate value"
    NOT_FOUND = "Not found"
    INTERNAL = "Internal error"


CARRIES_VALUE: Final = frozenset({Kind.INVALID, Kind.DUPLICATE, Kind.NOT_FOUND})


@dataclass(frozen=True, slots=True)
class FieldError:
    path: Path
    kind: Kind
    value: object = None  # JSON; printed for the kinds that carry a value
    detail: str = ""

    def __str__(self) -> str:
        value = compact_json(self.value) if self.kind in CARRIES_VALUE else ""
        return ": ".join(part for part in (self.path.text, self.kind.value, value, self.detail) if part)


def forbidden(path: Path, detail: str) -> FieldError:
    return FieldError(path, Kind.FORBIDDEN, detail=detail)


def required(path: Path, detail: str) -> FieldError:
    return FieldError(path, Kind.REQUIRED, detail=detail)


def invalid(path: Path, value: object, detail: str) -> FieldError:
    return FieldError(path, Kind.INVALID, value, detail)


def duplicate(path: Path, value: object) -> FieldError:
    return FieldError(path, Kind.DUPLICATE, value)


def not_found(path: Path, value: object) -> FieldError:
    return FieldError(path, Kind.NOT_FOUND, value)


def internal_error(path: Path, detail: str) -> FieldError:
    return FieldError(path, Kind.INTERNAL, detail=detail)


def first(errors: Iterable[FieldError]) -> list[FieldError]:
    """As many as anybody is told of."""
    return list(islice(errors, MOST_ERRORS))


def compact_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def aggregate(errors: Iterable[FieldError]) -> str:
    """One text for all: each message once, in the order found; bracketed when there are several."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    text = f"[{', '.join(texts)}]" if len(texts) > 1 else "".join(texts)
    return text if len(text) <= MAX_TEXT else _shortened(texts)


def _shortened(texts: list[str]) -> str:
    """As many whole messages as fit and how many more there are; a single giant is cut."""
    kept: list[str] = []
    room = MAX_TEXT - len("[, and at least 1000000 more]")
    for text in texts:
        room -= len(text) + len(", ")
        if room < 0:
            break
        kept.append(text)
    if not kept:
        kept = [texts[0][: MAX_TEXT // 2] + "..."]
    left = len(texts) - len(kept)
    about = "at least " if len(texts) >= MOST_ERRORS else ""
    return f"[{', '.join(kept)}, and {about}{left} more]" if left else kept[0]
