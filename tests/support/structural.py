"""What would the API server say of an object's structure? As strict as `kubectl --validate=strict`, without it."""

import re
from collections.abc import Iterator
from typing import Any, Final

from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.refs import Manifest

TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}


def schemas() -> dict[str, Manifest]:
    return {
        definition["spec"]["names"]["kind"]: definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        for definition in crd_manifests()
    }


def problems(value: Any, schema: Manifest, path: str = "") -> Iterator[str]:
    if "x-kubernetes-int-or-string" not in schema and not _has_type(value, schema.get("type")):
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{path}: {value} is out of range"
    if isinstance(value, dict):
        yield from _of_object(value, schema, path)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{path}[{index}]")


def _of_object(value: Manifest, schema: Manifest, path: str) -> Iterator[str]:
    yield from (f"{path}.{name}: required" for name in schema.get("required", ()) if name not in value)
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, inner in value.items():
        if name in fields:
            yield from problems(inner, fields[name], f"{path}.{name}")
        elif isinstance(others, dict):
            yield from problems(inner, others, f"{path}.{name}")
        elif not others and not schema.get("x-kubernetes-preserve-unknown-fields") and path != ".metadata":
            yield f"{path}.{name}: unknown field"


def _has_type(value: Any, name: str | None) -> bool:
    if name is None:
        return True
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
