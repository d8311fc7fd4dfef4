"""What are our kinds to an editor or to a check in CI? JSON Schemas, made from what the API server is told."""

import json
from typing import Any, Final

from firebolt_operator.api.crds import KINDS, Kind
from firebolt_operator.api.schema import schema_of
from firebolt_operator.refs import Manifest

_DIALECT: Final = "http://json-schema.org/draft-07/schema#"
_OURS: Final = "x-kubernetes-"
_FREE: Final = "x-kubernetes-preserve-unknown-fields"
_SIZES: Final = frozenset({"int32", "int64", "double", "byte"})
"""Formats that only Kubernetes knows; strict validators complain about them."""


def json_schema_files() -> dict[str, str]:
    """Under the names that kubeconform looks for: GROUP/KIND_VERSION.json."""
    return {_file_name(kind): f"{json.dumps(_document(kind), separators=(',', ':'))}\n" for kind in KINDS}


def _file_name(kind: Kind) -> str:
    group, _, version = kind.resource.api_version.rpartition("/")
    return f"{group}/{kind.resource.kind.lower()}_{version}.json"


def _document(kind: Kind) -> Manifest:
    closed: Manifest = _closed(schema_of(kind.model))
    identity = {"apiVersion": kind.resource.api_version, "kind": kind.resource.kind}
    fixed = {name: {"type": "string", "enum": [value]} for name, value in identity.items()}
    properties = closed["properties"] | fixed | {"metadata": {"type": "object"}}
    return {"$schema": _DIALECT, **closed, "properties": properties, "required": [*identity, *closed["required"]]}


def _closed(schema: Manifest) -> Manifest:
    """A field that the API server would drop without a word is a mistake here: most often it is misspelt."""
    kept = {keyword: value for keyword, value in schema.items() if not keyword.startswith(_OURS)}
    if kept.get("format") in _SIZES:
        del kept["format"]
    if "properties" in kept:
        kept["properties"] = {name: _closed(inner) for name, inner in kept["properties"].items()}
    if kept.get("type") == "object":
        kept.setdefault("additionalProperties", bool(schema.get(_FREE)))
    for keyword in ("items", "additionalProperties"):
        inner: Any = kept.get(keyword)
        if isinstance(inner, dict):
            kept[keyword] = _closed(inner)
    return kept
