"""Which durations does an object name, and which of them cannot be read? The schema takes any text."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct, inspect

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.model import Model
from firebolt_operator.errors import SpecRejectedError


def named_durations(model: Model) -> Iterator[tuple[str, str]]:
    """Where each is, from the model on, and its text; in the order of the fields."""
    return _walk_fields(type(model), model, "")


def malformed_durations(model: Model) -> list[SpecRejectedError]:
    """One refusal for each, in the order of the fields."""
    return [refusal for path, text in named_durations(model) for refusal in _refusal(text, path)]


def _walk_fields(model: type[Struct], value: Any, path: str) -> Iterator[tuple[str, str]]:
    for field in _leading_to_durations(model):
        found = getattr(value, field.name)
        if found is not None:
            name = f"{path}.{field.encode_name}" if path else field.encode_name
            yield from _walk(field.type, found, name)


@cache
def _leading_to_durations(model: type[Struct]) -> tuple[inspect.Field, ...]:
    """Few fields do, and an engine is asked in every pass."""
    shape = inspect.type_info(model)
    return tuple(field for field in getattr(shape, "fields", ()) if _leads_to_durations(field.type))


def _leads_to_durations(node: inspect.Type) -> bool:
    match node:
        case inspect.Metadata(extra={"schema": "duration"}):
            return True
        case inspect.Metadata():
            return _leads_to_durations(node.type)
        case inspect.UnionType():
            return any(map(_leads_to_durations, node.types))
        case inspect.ListType():
            return _leads_to_durations(node.item_type)
        case inspect.StructType():
            return bool(_leading_to_durations(node.cls))
        case _:
            return False


def _walk(node: inspect.Type, value: Any, path: str) -> Iterator[tuple[str, str]]:
    match node:
        case inspect.Metadata(extra={"schema": "duration"}):
            yield path, value
        case inspect.Metadata():
            yield from _walk(node.type, value, path)
        case inspect.UnionType():
            for kind in node.types:
                yield from _walk(kind, value, path)
        case inspect.ListType():
            for index, item in enumerate(value):
                yield from _walk(node.item_type, item, f"{path}[{index}]")
        case inspect.StructType():
            yield from _walk_fields(node.cls, value, path)
        case _:
            return


def _refusal(text: str, path: str) -> Iterator[SpecRejectedError]:
    try:
        parse_duration(text)
    except ValueError as err:
        yield SpecRejectedError(path, str(err))
