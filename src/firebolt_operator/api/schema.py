"""What does the API server have to know about a model? Its OpenAPI schema, made from the types and notes of fields."""

from typing import Any, Final

import msgspec
from msgspec import inspect

from firebolt_operator.api.model import QUANTITY_SCHEMA, Model
from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.api.texts import MOST_CHARACTERS
from firebolt_operator.refs import Manifest

_MARKED: Final[dict[str, Manifest]] = {
    "free-form": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "quantity": QUANTITY_SCHEMA,
    "duration": {"type": "string", "maxLength": MOST_CHARACTERS},
    "engine-duration": {"type": "string", "maxLength": MOST_CHARACTERS},
    "int-or-string": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "maxLength": MOST_CHARACTERS,
        "x-kubernetes-int-or-string": True,
    },
}
_CONSTRAINTS: Final = {
    "ge": "minimum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}


def schema_of(model: type[Model]) -> Manifest:
    """The structural schema of a model."""
    return _schema(inspect.type_info(model))


def _schema(node: inspect.Type) -> Manifest:
    match node:
        case inspect.Metadata():
            return _annotated(node)
        case inspect.UnionType():
            return _schema(_without_none(node))
        case inspect.StructType():
            return _object(node)
        case inspect.ListType():
            return {"type": "array", "items": _schema(node.item_type)} | _least_items(node)
        case inspect.DictType():
            return {"type": "object", "additionalProperties": _schema(node.value_type)}
        case _:
            return _scalar(node)


def _scalar(node: inspect.Type) -> Manifest:
    match node:
        case inspect.LiteralType():
            return {"type": "string", "enum": list(node.values)}
        case inspect.StrType():
            return {"type": "string"} | _constraints(node)
        case inspect.IntType():
            return {"type": "integer"} | _constraints(node)
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.DateTimeType():
            return {"type": "string", "format": "date-time"}
        case _:
            raise RuntimeError(f"no schema for {node!r}")


def _annotated(node: inspect.Metadata) -> Manifest:
    said = {keyword: value for keyword, value in (node.extra_json_schema or {}).items() if keyword != "required"}
    # First, so that a reader of the definition meets the sentence before hundreds of lines of properties.
    description = {"description": said.pop("description")} if "description" in said else {}
    return {**description, **_marked(node), **said}


def _marked(node: inspect.Metadata) -> Manifest:
    marker = (node.extra or {}).get("schema", "")
    if marker == "pod-template":
        return pod_template_schema()
    if marker in _MARKED:
        return _MARKED[marker]
    return _schema(node.type) | ({"format": marker} if marker else {})


def _object(node: inspect.StructType) -> Manifest:
    properties = {field.encode_name: _schema(field.type) for field in node.fields}
    required = sorted(field.encode_name for field in node.fields if _is_required(field))
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _is_required(field: inspect.Field) -> bool:
    if field.required:
        return True
    return isinstance(field.type, inspect.Metadata) and bool((field.type.extra_json_schema or {}).get("required"))


def _without_none(node: inspect.UnionType) -> inspect.Type:
    """Absent is None here; on the wire null is no value of any of our fields."""
    kinds = [kind for kind in node.types if not isinstance(kind, inspect.NoneType)]
    if len(kinds) != 1:
        raise RuntimeError(f"a field of our kinds has one type, not {node!r}")
    return kinds[0]


def _least_items(node: inspect.ListType) -> dict[str, Any]:
    return {} if node.min_length is None else {"minItems": node.min_length}


def _constraints(node: inspect.StrType | inspect.IntType) -> dict[str, Any]:
    given = msgspec.structs.asdict(node)
    return {word: given[name] for name, word in _CONSTRAINTS.items() if given.get(name) is not None}
