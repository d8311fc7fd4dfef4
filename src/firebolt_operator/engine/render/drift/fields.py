"""Whose doing is it that a field is there, or is not? Two excuses for a difference.

Did we send a field that the API server then left out? It takes a field whose feature is switched off and drops it
without a word. Asking for it again would change nothing, so its absence is no drift. Of a field that somebody removed
later, the server takes our ownership away: that is drift.

Is a field one that we know? A newer API server may fill in fields of its own; taking those for drift would roll every
engine without end.
"""

from functools import lru_cache
from typing import Any, Final

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.engine.render.drift.comparison import Element, Path
from firebolt_operator.manifests.managed_fields import OwnedEntries, applied_fields, field_of
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Manifest

DROPPED_INSIDE_ATOMIC: Final = frozenset({"clusterTrustBundle", "podCertificate"})
"""Ownership of an atomic list does not tell its entries apart; these are what is switched off inside one by default."""


class AppliedFields:
    """What the server knows us to have applied of one object, for as many questions as its comparison has."""

    def __init__(self, live: Manifest) -> None:
        self._owned = applied_fields(mapping(live.get("metadata")))
        self._lists: dict[int, OwnedEntries] = {}  # by the identity of a part of the tree, which stays as it is

    def has(self, path: Path) -> bool:
        """Whether we own the field although it is not there. The path starts at the object."""
        owned = self._owned
        for index, step in enumerate(path):
            if not owned:
                return index > 0 and not DROPPED_INSIDE_ATOMIC.isdisjoint(
                    each for each in path[index:] if isinstance(each, str)
                )
            inner = self._entries(owned).of(step.wanted) if isinstance(step, Element) else field_of(owned, step)
            if inner is None:
                return False
            owned = inner
        return True

    def _entries(self, owned: Manifest) -> OwnedEntries:
        entries = self._lists.get(id(owned))
        if entries is None:
            entries = self._lists[id(owned)] = OwnedEntries(owned)
        return entries


def is_known_field(path: Path) -> bool:
    """The path starts at the pod template."""
    return _is_known(tuple(None if isinstance(step, Element) else step for step in path))


@lru_cache(maxsize=1024)
def _is_known(steps: tuple[str | None, ...]) -> bool:
    node: Any = pod_template_schema()
    for step in steps:
        if node.get("x-kubernetes-preserve-unknown-fields"):
            return True
        node = node.get("items") if step is None else _property(node, step)
        if node is None:
            return False
    return True


def _property(node: dict[str, Any], name: str) -> Any:
    return node.get("properties", {}).get(name) or node.get("additionalProperties")
