"""Did we send a field that the API server then left out?

It takes a field whose feature is switched off and drops it without a word. Asking for it again would change nothing, so
its absence is no drift. Of a field that somebody removed later, the server takes our ownership away: that is drift.
"""

from collections.abc import Iterable
from typing import Any, Final

from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.engine.comparison import Element, Path
from firebolt_operator.policy.reading import decoded, mapping
from firebolt_operator.refs import Manifest

DROPPED_INSIDE_ATOMIC: Final = frozenset({"clusterTrustBundle", "podCertificate"})
"""Ownership of an atomic list does not tell its entries apart; these are what is switched off inside one by default."""


def was_applied(live: Manifest, path: Path) -> bool:
    """Whether we own the field although it is not there. The path starts at the object."""
    return any(_owns(mapping(entry.get("fieldsV1")), path) for entry in _our_entries(live))


def _our_entries(live: Manifest) -> Iterable[Manifest]:
    entries: list[Manifest] = live.get("metadata", {}).get("managedFields") or []
    return (each for each in entries if each.get("manager") == FIELD_MANAGER and each.get("operation") == "Apply")


def _owns(owned: Manifest, path: Path) -> bool:
    for index, step in enumerate(path):
        if not owned:
            return index > 0 and not DROPPED_INSIDE_ATOMIC.isdisjoint(
                each for each in path[index:] if isinstance(each, str)
            )
        inner = _entry(owned, step) if isinstance(step, Element) else owned.get(f"f:{step}")
        if inner is None:
            return False
        owned = mapping(inner)
    return True


def _entry(owned: Manifest, element: Element) -> Manifest | None:
    """The entry of a keyed list: `k:{"name":"engine"}`, every key equal to the element's field."""
    for key, inner in owned.items():
        if key.startswith("k:") and _has(element.wanted, decoded(key[2:])):
            return mapping(inner)
    return None


def _has(element: Any, keys: Any) -> bool:
    # A key may be a default that was not written down, such as a port's protocol.
    are_both = isinstance(element, dict) and isinstance(keys, dict)
    return are_both and all(element.get(name, value) == value for name, value in keys.items())
