"""Which durations of an object cannot be read? The schema takes any text, so admission and people ask here."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import inspect

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.model import Model
from firebolt_operator.errors import SpecRejectedError


def malformed_durations(model: Model) -> list[SpecRejectedError]:
    """One refusal for each, in the order of the fields."""
    return list(_walk(_shape(type(model)), model, ""))


@cache
def _shape(model: type[Model]) -> inspect.Type:
    return inspect.type_info(model)


def _walk(node: inspect.Type, value: Any, path: str) -> Iterator[SpecRejectedError]:
    match node:
        case inspect.Metadata(extra={"schema": "duration"}):
            yield from _refusal(value, path)
        case inspect.Metadata():
            yield from _walk(node.type, value, path)
        case inspect.UnionType():
            for kind in node.types if value is not None else ():
                yield from _walk(kind, value, path)
        case inspect.ListType():
            for index, item in enumerate(value):
                yield from _walk(node.item_type, item, f"{path}[{index}]")
        case inspect.StructType():
            for field in node.fields:
                name = f"{path}.{field.encode_name}" if path else field.encode_name
                yield from _walk(field.type, getattr(value, field.name), name)
        case _:
            return


def _refusal(text: str, path: str) -> Iterator[SpecRejectedError]:
    try:
        parse_duration(text)
    except ValueError as err:
        yield SpecRejectedError(path, str(err))
