"""Which fields of a live object did we apply? The API server writes it down, as a tree of `f:`, `k:` and `v:` keys."""

from typing import Any

from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.manifests.reading import decoded, mapping, mappings
from firebolt_operator.refs import Manifest


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


def entry_of(owned: Manifest, element: Any) -> Manifest | None:
    """What we own of an element of a keyed list, which is named like `k:{"name":"engine"}`."""
    for key, inner in owned.items():
        if key.startswith("k:") and _has(element, decoded(key[2:])):
            return mapping(inner)
    return None


def element_of(elements: list[Any], key: str) -> Any:
    """The element that a `k:` key names; None where there is none."""
    keys = mapping(decoded(key.removeprefix("k:")))
    return next((each for each in elements if _has(each, keys)), None)


def _has(element: Any, keys: Any) -> bool:
    # A key may be a default that nobody wrote down, such as a port's protocol.
    are_both = isinstance(element, dict) and isinstance(keys, dict)
    return are_both and all(element.get(name, value) == value for name, value in keys.items())
