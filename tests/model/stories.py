"""How a search came to a state, for people."""

from collections.abc import Mapping
from typing import TypeVar

W = TypeVar("W")


def story(came_from: Mapping[W, tuple[W | None, str]], world: W) -> str:
    """Every step and the state that it led to, the first one first."""
    lines, at = list[str](), world
    while True:
        before, name = came_from.get(at, (None, "?"))
        lines.append(f"  {name}\n    {at}")
        if before is None:
            return "\n".join(reversed(lines))
        at = before
