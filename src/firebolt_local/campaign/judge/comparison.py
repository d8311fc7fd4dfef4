"""Where do two pictures of a namespace differ?"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from firebolt_local.campaign.judge.normal import Picture

_MISSING: Final = object()
_MOST_LETTERS: Final = 160


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    path: str  # the object, and the way to the field
    words: str

    def __str__(self) -> str:
        return f"{self.path}: {self.words}"


def differences(found: Picture, wanted: Picture, noise: Iterable[str] = ()) -> list[Difference]:
    """`noise`: paths that differ from run to run."""
    ignored = frozenset(noise)
    return [each for each in _walk("", found, wanted) if each.path not in ignored]


def _walk(path: str, found: Any, wanted: Any) -> Iterator[Difference]:
    if found is _MISSING or wanted is _MISSING:
        words = f"is missing; wanted {_short(wanted)}" if found is _MISSING else f"is there too much: {_short(found)}"
        yield Difference(path, words)
    elif isinstance(found, dict) and isinstance(wanted, dict):
        for name in dict.fromkeys([*wanted, *found]):
            step = f"{path}.{name}" if path else str(name)
            yield from _walk(step, found.get(name, _MISSING), wanted.get(name, _MISSING))
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for index, (left, right) in enumerate(zip(found, wanted, strict=True)):
            yield from _walk(f"{path}[{index}]", left, right)
    elif found != wanted:
        yield Difference(path, f"is {_short(found)}, not {_short(wanted)}")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."
