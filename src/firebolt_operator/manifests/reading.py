"""Reading JSON that a person wrote: a missing, null or mistyped part reads as empty, and nothing raises."""

import json
from typing import Any

from firebolt_operator.refs import Manifest


def mapping(value: Any) -> Manifest:
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[Manifest]:
    """The elements of a list of objects; an element of another type keeps its place, as an empty object."""
    return [mapping(element) for element in value] if isinstance(value, list) else []


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def decoded(text: str) -> Any:
    """None for what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
