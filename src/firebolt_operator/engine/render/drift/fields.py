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
from firebolt_operator.manifests.managed_fields import applied_fields, entry_of, field_of
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Manifest

DROPPED_INSIDE_ATOMIC: Final = frozenset({"clusterTrustBundle", "podCertificate"})
"""Ownership of an atomic list does not tell its entries apart; these are what is switched off inside one by default."""


def was_applied(live: Manifest, path: Path) -> bool:
    """Whether we own the field although it is not there. The path starts at the object."""
    owned = applied_fields(mapping(live.get("metadata")))
    for index, step in enumerate(path):
        if not owned:
            return index > 0 and not DROPPED_INSIDE_ATOMIC.isdisjoint(
                each for each in path[index:] if isinstance(each, str)
            )
        inner = entry_of(owned, step.wanted) if isinstance(step, Element) else field_of(owned, step)
        if inner is None:
            return False
        owned = inner
    return True


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
