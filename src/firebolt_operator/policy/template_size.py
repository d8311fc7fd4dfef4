"""Is a template small enough to be looked through, whenever somebody writes it and in every pass?"""

from typing import Any, Final

from firebolt_operator.manifests.reading import mapping
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.refs import Manifest

MOST_ENTRIES: Final = 10_000
"""Of all lists of a pod together, at whatever depth; a pod that runs has some dozens."""


def check_size(template: Manifest | None, base: Path) -> list[FieldError]:
    if _is_manageable(template):
        return []
    detail = f"more than {MOST_ENTRIES} containers, volumes, mounts and other entries of lists in all; remove some"
    return [forbidden(base.child("spec"), detail)]


def manageable(template: Manifest | None) -> Manifest | None:
    """None for one that is too large: there is nothing else to be said about it."""
    return template if _is_manageable(template) else None


def _is_manageable(template: Manifest | None) -> bool:
    """Looked through as far as it takes to know that there are too many, and without recursion."""
    total = 0
    waiting: list[Any] = [mapping(mapping(template).get("spec"))]
    while waiting and total <= MOST_ENTRIES:
        value = waiting.pop()
        total += len(value) if isinstance(value, list) else 0
        inner = value if isinstance(value, list) else value.values()
        waiting += [each for each in inner if isinstance(each, dict | list)]
    return total <= MOST_ENTRIES
