"""Would an apply change anything? If not, it is left out: an instance at rest costs no requests.

A live object that says all we would say is not enough: we may have said more before, and only an apply takes that back.
So the fields that the server knows us to have applied are walked along with the two objects. What the server rewrites
in ways that this walk does not know costs one apply: from then on the server's own answer tells.
"""

from typing import Any, Final, Protocol

from firebolt_operator.manifests.managed_fields import (
    KeyedElements,
    field_names,
    keyed_entries,
    owned_values,
    values_of,
)
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.manifests.subset import is_subset
from firebolt_operator.refs import Manifest

UNTRACKED: Final = ("apiVersion", "kind")
UNTRACKED_METADATA: Final = ("name", "namespace")
Place = tuple[str, str]
"""The key of the object that a value is in, and its own: both tell whether it is a quantity or a word."""


class Stored(Protocol):
    """An object as it is stored, without its bookkeeping."""

    @property
    def content(self) -> Manifest: ...
    @property
    def owned(self) -> Manifest:
        """What the server knows us to have applied (managed_fields)."""
        ...


def is_applied(rendered: Manifest, live: Stored) -> bool:
    metadata = _without(mapping(rendered.get("metadata")), UNTRACKED_METADATA)
    wanted = {**_without(rendered, UNTRACKED), "metadata": metadata}
    return bool(live.owned) and _matches(wanted, live.content, live.owned, ("", ""))


def _without(document: Manifest, keys: tuple[str, ...]) -> Manifest:
    return {key: value for key, value in document.items() if key not in keys}


def _matches(wanted: Any, live: Any, owned: Manifest, place: Place) -> bool:
    if not owned:
        # A value, or a list or an object that is replaced as a whole. One that the server dropped although we own it
        # belongs to a feature that is off there: asking again would not help.
        parent, key = place
        return live is None or is_subset({parent: {key: wanted}}, {parent: {key: live}})
    if isinstance(wanted, dict):
        return _matches_object(wanted, mapping(live), owned, parent=place[1])
    if isinstance(wanted, list):
        return _matches_list(wanted, live if isinstance(live, list) else [], owned)
    return False


def _matches_object(wanted: Manifest, live: Manifest, owned: Manifest, *, parent: str) -> bool:
    ours = field_names(owned)
    said = {key for key, value in wanted.items() if not _is_nothing(value, live.get(key), key in ours)}
    return ours == said and all(_matches(wanted[key], live.get(key), owned[f"f:{key}"], (parent, key)) for key in said)


def _is_nothing(wanted: Any, live: Any, is_ours: bool) -> bool:
    """Null and empty lists are stored as absent."""
    return wanted is None or (wanted == [] and live is None and not is_ours)


def _matches_list(wanted: list[Any], live: list[Any], owned: Manifest) -> bool:
    """`k:{"name":"x"}` names an element by its keys, `v:"x"` by its value."""
    entries = [key for key in owned if key != "."]
    if len(entries) != len(wanted):
        return False
    if all(key.startswith("v:") for key in entries):
        return owned_values(entries) <= values_of(wanted) & values_of(live)
    keyed = keyed_entries(owned)
    if len(keyed) != len(entries):
        return False
    names = keyed[0][0].keys()
    left, right = KeyedElements(wanted, names), KeyedElements(live, names)
    return all(_matches_entry(left.named(keys), right.named(keys), inner) for keys, inner in keyed)


def _matches_entry(wanted: Manifest | None, live: Manifest | None, owned: Manifest) -> bool:
    return wanted is not None and live is not None and _matches(wanted, live, owned, ("", ""))
