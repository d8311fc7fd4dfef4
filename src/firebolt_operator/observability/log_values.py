"""How does a value look in a log record? Short, and never with the content of a Kubernetes object."""

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import cast

from firebolt_operator.refs import Ref


def plain(value: object, *, is_full: bool = False) -> object:  # noqa: PLR0911 - one kind of value per line
    """Something JSON can say. `is_full` shows whole Kubernetes objects, but a Secret never."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Ref():
            return _named(value.resource.api_version, value.resource.kind, value.namespace, value.name)
        case BaseException():
            return error_text(value)
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytes():
            return f"{len(value)} bytes"
        case _:
            return _collection(value, is_full=is_full)


def error_text(err: BaseException) -> str:
    """What went wrong, all of it: a group's own message does not say."""
    if isinstance(err, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", err)
        return "; ".join(error_text(inner) for inner in group.exceptions)
    return str(err) or type(err).__name__


def _collection(value: object, *, is_full: bool) -> object:
    if isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), is_full=is_full)
    if isinstance(value, list | tuple | AbstractSet):
        items = cast("list[object]", value)
        return [plain(item, is_full=is_full) for item in items]
    return str(value)


def _mapping(value: Mapping[object, object], *, is_full: bool) -> dict[str, object]:
    metadata = value.get("metadata")
    kind = value.get("kind")
    if not isinstance(metadata, Mapping) or not isinstance(kind, str) or (is_full and kind != "Secret"):
        return {str(key): plain(inner, is_full=is_full) for key, inner in value.items()}
    names = cast("Mapping[str, object]", metadata)
    return _named(str(value.get("apiVersion", "")), kind, str(names.get("namespace", "")), str(names.get("name", "")))


def _named(api_version: str, kind: str, namespace: str, name: str) -> dict[str, object]:
    named = {"apiVersion": api_version, "kind": kind, "namespace": namespace, "name": name}
    return {key: value for key, value in named.items() if value}
