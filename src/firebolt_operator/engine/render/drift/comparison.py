"""Where does a live pod template first differ from the wanted one, field by field?

Both sides are walked together. What is equal as it stands is passed over at once; only where the two differ does it
matter what the API server filled in, left out or wrote in another way.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from firebolt_operator.api.quantities import parse_quantity
from firebolt_operator.manifests.api_defaults import (
    QUANTITIES,
    RESOURCE_LISTS,
    is_absent,
    is_default,
    matters_when_empty,
)
from firebolt_operator.refs import Manifest

SHOWN_CHARACTERS: Final = 120
SECRETIVE: Final = frozenset({"value", "command", "args"})
"""Fields where people put passwords: a difference there is named, never quoted."""


@dataclass(frozen=True, slots=True)
class Element:
    """One step of a path: an entry of a list."""

    index: int
    wanted: Any


Path = tuple[str | Element, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    path: Path
    live: Any  # None where it is absent
    wanted: Any

    def __str__(self) -> str:
        return f"{_path_text(self.path)}: {self._words()}"

    def _words(self) -> str:
        if any(isinstance(step, str) and step in SECRETIVE for step in self.path):
            return "live differs from wanted"
        return f"live {_value_text(self.live)}, wanted {_value_text(self.wanted)}"


Excuse = Callable[[Difference], bool]
"""Whether a field that only one side has is no drift after all."""


@dataclass(frozen=True, slots=True)
class Comparison:
    excuse: Excuse

    def objects(self, wanted: Manifest, live: Manifest, path: Path) -> Difference | None:
        for field in {**wanted, **live}:
            left, right = wanted.get(field), live.get(field)
            if left == right:
                continue
            found = self._fields(field, wanted, live, path)
            if found is not None:
                return found
        return None

    def _fields(self, field: str, wanted: Manifest, live: Manifest, path: Path) -> Difference | None:
        left, right, within = wanted.get(field), live.get(field), _within(path)
        here: Path = (*path, field)
        has_left, has_right = not is_absent(within, field, left), not is_absent(within, field, right)
        if has_left and has_right:
            return self._values(left, right, here)
        if not has_left and not has_right:
            return None
        value, beside = (left, wanted) if has_left else (right, live)
        if is_default(within, field, value, beside):
            return None
        if isinstance(value, dict) and not matters_when_empty(within, field):
            # An object may consist of defaults alone.
            return self.objects(left or {}, right or {}, here)
        difference = Difference(here, right if has_right else None, left if has_left else None)
        return None if self.excuse(difference) else difference

    def _values(self, wanted: Any, live: Any, path: Path) -> Difference | None:
        if isinstance(wanted, dict) and isinstance(live, dict):
            return self.objects(wanted, live, path)
        if isinstance(wanted, list) and isinstance(live, list):
            return self._lists(wanted, live, path)
        return None if _is_same_amount(wanted, live, path) else Difference(path, live, wanted)

    def _lists(self, wanted: list[Any], live: list[Any], path: Path) -> Difference | None:
        if _names(wanted) != _names(live):
            return Difference(path, live, wanted)
        for index, (left, right) in enumerate(zip(wanted, live, strict=True)):
            found = None if left == right else self._values(left, right, (*path, Element(index, left)))
            if found is not None:
                return found
        return None


def _within(path: Path) -> str:
    """The name of the object that a field stands in; for an entry of a list, the list's."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _names(entries: list[Any]) -> list[Any]:
    """What tells the entries of a list apart, so that a missing one is reported as such and not as a renamed one."""
    return [_name(entry, index) for index, entry in enumerate(entries)]


def _name(entry: Any, index: int) -> Any:
    return (entry.get("name") or index) if isinstance(entry, dict) else index


def _is_same_amount(wanted: Any, live: Any, path: Path) -> bool:
    within, field = _within(path[:-1]), path[-1]
    if within not in RESOURCE_LISTS and field not in QUANTITIES:
        return False
    try:
        left, right = parse_quantity(wanted), parse_quantity(live)
    except ValueError:
        return False
    if within in RESOURCE_LISTS:
        # The API server keeps no more than thousandths of a resource, and rounds up.
        return math.ceil(left * 1000) == math.ceil(right * 1000)
    return left == right


def _path_text(path: Path) -> str:
    text = ""
    for step in path:
        if isinstance(step, Element):
            text += f"[{_name(step.wanted, step.index)}]"
        else:
            text += f".{step}" if text else step
    return text


def _value_text(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(_summary(value))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _summary(value: Any) -> Any:
    """Entries of a list by name, objects by their fields: enough to find the place without quoting content."""
    if isinstance(value, list):
        return [_name(entry, index) if isinstance(entry, dict) else entry for index, entry in enumerate(value)]
    return sorted(value) if isinstance(value, dict) else value
