"""Which fields of a live object did we apply? The API server writes it down, as a tree of `f:`, `k:` and `v:` keys."""

from collections.abc import Iterable
from itertools import product
from typing import Any, Final

from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.manifests.reading import decoded, mapping, mappings
from firebolt_operator.refs import Manifest

MOST_KEYS: Final = 4
"""That an element of a list is named by; Kubernetes needs two, for ports and topologySpreadConstraints."""
ABSENT: Final = object()


def is_ours(manager: str, operation: str, subresource: str = "") -> bool:
    return (manager, operation, subresource) == (FIELD_MANAGER, "Apply", "")


def applied_fields(metadata: Manifest) -> Manifest:
    """The tree of what the server knows us to have applied; empty means nothing."""
    for entry in mappings(metadata.get("managedFields")):
        if is_ours(entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", "")):
            return mapping(entry.get("fieldsV1"))
    return {}


def field_of(owned: Manifest, name: str) -> Manifest | None:
    """None: not ours. Empty: a value, or a list or an object that is replaced as a whole."""
    inner = owned.get(f"f:{name}")
    return None if inner is None else mapping(inner)


def field_names(owned: Manifest) -> set[str]:
    return {key[2:] for key in owned if key.startswith("f:")}


def keyed_entries(owned: Manifest) -> list[tuple[Manifest, Manifest]]:
    """What we own of the elements of a keyed list: the keys that name each, like `k:{"name":"engine"}`, and the rest.

    All elements of a list are named by the same keys; what is not like the first was not written by an API server.
    """
    found = [(keys, mapping(inner)) for key, inner in owned.items() if (keys := _keys(key)) is not None]
    return [each for each in found if each[0].keys() == found[0][0].keys()]


def _keys(key: str) -> Manifest | None:
    keys = decoded(key[2:]) if key.startswith("k:") else None
    is_plain = isinstance(keys, dict) and len(keys) <= MOST_KEYS and all(map(_is_scalar, keys.values()))
    return keys if is_plain else None


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def owned_values(keys: Iterable[str]) -> set[Any]:
    """The elements of a list of values that are ours, which are named like `v:"x"`."""
    return {value if _is_scalar(value := decoded(key[2:])) else ABSENT for key in keys}


def values_of(elements: list[Any]) -> set[Any]:
    return {each for each in elements if _is_scalar(each)}


class KeyedElements:
    """A list whose elements are found by their keys, without looking through all of them each time."""

    def __init__(self, elements: list[Any], names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._found: dict[tuple[Any, ...], tuple[int, Manifest]] = {}
        for place, element in enumerate(elements):
            if isinstance(element, dict):
                values = tuple(element.get(name, ABSENT) for name in self._names)
                if all(value is ABSENT or _is_scalar(value) for value in values):
                    self._found.setdefault(values, (place, element))

    def named(self, keys: Manifest) -> Manifest | None:
        """The first of them, should there be several."""
        # A key may be a default that nobody wrote down, such as a port's protocol.
        possible = product(*((keys[name], ABSENT) for name in self._names))
        found = [self._found[values] for values in possible if values in self._found]
        return min(found, key=lambda each: each[0])[1] if found else None


class OwnedEntries:
    """What we own of a keyed list, found by an element of it, without looking through all entries each time."""

    def __init__(self, owned: Manifest) -> None:
        self._entries = keyed_entries(owned)
        self._names = tuple(self._entries[0][0]) if self._entries else ()
        self._by_names: dict[tuple[str, ...], dict[tuple[Any, ...], Manifest]] = {}

    def of(self, element: Any) -> Manifest | None:
        if not isinstance(element, dict) or not self._entries:
            return None
        said = tuple(name for name in self._names if name in element)  # what it leaves out is a default
        values = tuple(element[name] for name in said)
        return self._index(said).get(values) if all(map(_is_scalar, values)) else None

    def _index(self, names: tuple[str, ...]) -> dict[tuple[Any, ...], Manifest]:
        index = self._by_names.get(names)
        if index is None:
            index = self._by_names[names] = {}
            for keys, inner in self._entries:
                index.setdefault(tuple(keys[name] for name in names), inner)
        return index
