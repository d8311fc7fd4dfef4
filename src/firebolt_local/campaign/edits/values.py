"""What can be written into a field: something legal, something illegal, something extreme?"""

import re
from enum import StrEnum
from typing import Any, Final

from firebolt_operator.refs import Manifest


class Sort(StrEnum):
    LEGAL = "legal"
    ILLEGAL = "illegal"
    EXTREME = "extreme"
    NULL = "null"
    REMOVED = "removed"


_WORDS: Final = ("text", "1h", "1Gi", "09:30", "/data", "https://text.example", "UTC", "1")
"""Tried in turn until a field's pattern takes one."""
_LONG: Final = "x" * 200
_LARGE: Final = 2**31 - 1
_LARGE_QUANTITY: Final = str(2**63 - 1)
_OF_ANOTHER_TYPE: Final[dict[str, Any]] = {
    "string": {"not": "a string"},
    "integer": "not a number",
    "number": "not a number",
    "boolean": "not a boolean",
    "object": "not an object",
    "array": "not a list",
}
_CROWDS: Final = frozenset({"replicas", "activeReplicas", "idleReplicas"})
"""A thousand pods would try the machine, not the operator: their extreme is the smallest number."""
_TIMES: Final = ("Timeout", "Interval", "Deadline", "Duration", "Before", "Expiry", "Age", "Tolerance", "TTL")
"""Strings that are durations, whatever the schema says of them."""


def value(name: str, schema: Manifest, sort: Sort) -> Any:
    match sort:
        case Sort.LEGAL:
            return legal(name, schema)
        case Sort.ILLEGAL:
            return _illegal(schema)
        case Sort.EXTREME:
            return _extreme(name, schema)
        case _:
            return None


def legal(name: str, schema: Manifest) -> Any:
    match _type(schema):
        case "enum":
            return schema["enum"][-1]
        case "boolean":
            return not schema.get("default", False)
        case "integer" | "number":
            return min(max(schema.get("minimum", 1), 1) + 1, schema.get("maximum", _LARGE))
        case "array":
            return [legal(name, schema["items"])]
        case "object":
            return _legal_object(name, schema)
        case _:
            return _legal_word(name, schema)


def _legal_object(name: str, schema: Manifest) -> Manifest:
    """What it must have, and nothing else; a map gets one entry."""
    needed = {inner: legal(inner, schema["properties"][inner]) for inner in schema.get("required", ())}
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        needed["key"] = legal("key", others)
    elif schema.get("x-kubernetes-preserve-unknown-fields"):
        # Of the metadata of a template the schema says nothing; labels are what it is for.
        needed |= {"labels": {"key": "text"}} if name == "metadata" else {"key": "text"}
    return needed


def _type(schema: Manifest) -> str:
    if "enum" in schema:
        return "enum"
    return "mixed" if schema.get("x-kubernetes-int-or-string") else str(schema.get("type"))


def _legal_word(name: str, schema: Manifest) -> str | int:
    if _type(schema) == "mixed":
        return "2Gi" if "pattern" in schema else 1
    words = ("1h", *_WORDS) if name.endswith(_TIMES) else _WORDS
    pattern = schema.get("pattern", "")
    return next((word for word in words if re.search(pattern, word)), words[0])


def _illegal(schema: Manifest) -> Any:
    if "enum" in schema:
        return "none of these"
    if "maximum" in schema:
        return schema["maximum"] + 1
    if "minimum" in schema:
        return schema["minimum"] - 1
    if schema.get("x-kubernetes-int-or-string"):
        return "not a quantity"
    return _OF_ANOTHER_TYPE[schema.get("type", "string")]


def _extreme(name: str, schema: Manifest) -> Any:
    match _type(schema):
        case "enum":
            return schema["enum"][0]
        case "boolean":
            return schema.get("default", False)
        case "integer" | "number":
            return schema.get("minimum", 0) if name in _CROWDS else schema.get("maximum", _LARGE)
        case "array" | "object":
            return [] if schema["type"] == "array" else {}
        case "mixed":
            return _LARGE_QUANTITY if "pattern" in schema else "100%"
        case _:
            return _LONG[: schema.get("maxLength", len(_LONG))]
