"""How do two fragments of a template become one? By the shape of each value, so that no field is forgotten.

A list is the class's entries followed by the engine's, duplicates included: what clashes is for the API server to
refuse. Anything else is the engine's value where it has one, else the class's; objects are taken whole.
"""

from collections.abc import Mapping
from typing import Any, Final

from firebolt_operator.refs import Manifest

KEY_BY_KEY: Final = frozenset({"nodeSelector"})
EMPTY_IS_UNSET: Final = frozenset({"nodeSelector", "overhead", "resources"})
"""Objects of which an empty one says nothing; any other, an empty securityContext for example, is a choice."""


def merge_fields(under: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """Every field of both fragments once; what is set nowhere is left out."""
    merged = {name: _merge_field(name, under.get(name), over.get(name)) for name in {**under, **over}}
    return {name: value for name, value in merged.items() if _is_set(name, value)}


def _merge_field(name: str, under: Any, over: Any) -> Any:
    if isinstance(under, list) and isinstance(over, list):
        return [*under, *over]
    if name in KEY_BY_KEY and isinstance(under, dict) and isinstance(over, dict):
        return {**under, **over}
    return over if _is_set(name, over) else under


def _is_set(name: str, value: Any) -> bool:
    if isinstance(value, dict):
        return name not in EMPTY_IS_UNSET or any(part not in (None, {}, []) for part in value.values())
    return value is not None and value not in ("", [])
