"""Objects that are nested too deeply for any decoder that recurses."""

import json
from typing import Any

LEVELS = 1_500


def deep_text(levels: int = LEVELS) -> str:
    return '{"a":' * levels + "0" + "}" * levels


def with_depth(document: dict[str, Any], *path: str, levels: int = LEVELS) -> bytes:
    """The document as JSON, with something deep at this path."""
    mark = "=deep="
    copy = json.loads(json.dumps(document))
    place: Any = copy
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = mark
    return json.dumps(copy, separators=(",", ":")).replace(f'"{mark}"', deep_text(levels)).encode()


def indented_at_length(levels: int = 200, zeros: int = 200_000) -> dict[str, Any]:
    """Short as it is stored, and not nested too deeply; a file of it has an indented line for each of the zeros."""
    nested: Any = [0] * zeros
    for _ in range(levels):
        nested = {"a": nested}
    return {"a": nested}


def deep_managed_fields(api_version: str, levels: int = LEVELS) -> str:
    """As an API server accepts them from anybody who may write the object; of a foreign version it forgets them."""
    fields = '{"f:a":' * levels + "{}" + "}" * levels
    return (
        f'[{{"apiVersion":"{api_version}","fieldsType":"FieldsV1","fieldsV1":{fields},'
        '"manager":"hostile","operation":"Update","time":"2026-01-01T00:00:00Z"}]'
    )


def with_managed_fields(document: dict[str, Any], api_version: str = "v1") -> bytes:
    mark = "=deep="
    metadata = {**document.get("metadata", {}), "managedFields": mark}
    return (
        json.dumps({**document, "metadata": metadata}).replace(f'"{mark}"', deep_managed_fields(api_version)).encode()
    )
