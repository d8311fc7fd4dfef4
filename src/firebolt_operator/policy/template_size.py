"""Is a template small enough to be looked through, whenever somebody writes it and in every pass?"""

from typing import Any, Final

from firebolt_operator.manifests.reading import mapping, mappings
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.refs import Manifest

MOST_ENTRIES: Final = 10_000
"""Containers, volumes, mounts and environment variables together; a pod that runs has some dozens."""
LISTS: Final = ("volumes", "containers", "initContainers")
CONTAINER_LISTS: Final = ("env", "envFrom", "volumeMounts")


def check_size(template: Manifest | None, base: Path) -> list[FieldError]:
    if _entries(template) <= MOST_ENTRIES:
        return []
    detail = f"more than {MOST_ENTRIES} containers, volumes, mounts and environment variables in all; remove some"
    return [forbidden(base.child("spec"), detail)]


def manageable(template: Manifest | None) -> Manifest | None:
    """None for one that is too large: there is nothing else to be said about it."""
    return template if _entries(template) <= MOST_ENTRIES else None


def _entries(template: Manifest | None) -> int:
    """As far as it takes to know that they are too many."""
    pod = mapping(mapping(template).get("spec"))
    total = sum(_length(pod.get(name)) for name in LISTS)
    if total > MOST_ENTRIES:
        return total
    for volume in mappings(pod.get("volumes")):
        total += _length(mapping(volume.get("projected")).get("sources")) if "projected" in volume else 0
    for container in (*mappings(pod.get("containers")), *mappings(pod.get("initContainers"))):
        total += sum(_length(container.get(name)) for name in CONTAINER_LISTS)
    return total


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else 0
