"""Any object of our kinds, with every field set or left out: a Hypothesis strategy made from the models themselves."""

from datetime import UTC, datetime
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec import inspect

from firebolt_operator.api.model import Model

AnyModel = TypeVar("AnyModel", bound=Model)

TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
SECONDS = st.integers(-(10**9), 10**11).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
FREE_FORM = st.dictionaries(TEXT, st.one_of(st.none(), st.booleans(), st.integers(0, 9), TEXT), max_size=2)


SIMPLE: dict[type[inspect.Type], st.SearchStrategy[Any]] = {
    inspect.NoneType: st.none(),
    inspect.BoolType: st.booleans(),
    inspect.DateTimeType: SECONDS,
}


def models(model: type[AnyModel]) -> st.SearchStrategy[AnyModel]:
    node = inspect.type_info(model)
    assert isinstance(node, inspect.StructType)
    return _structs(node).map(lambda fields: model(**fields))


def _structs(node: inspect.StructType) -> st.SearchStrategy[dict[str, Any]]:
    required = {field.name: _values(field.type) for field in node.fields if field.required}
    optional = {field.name: _values(field.type) for field in node.fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional)


def _values(node: inspect.Type) -> st.SearchStrategy[Any]:
    match node:
        case inspect.Metadata():
            return _values(node.type)
        case inspect.UnionType():
            return st.one_of([_values(kind) for kind in node.types])
        case inspect.StructType():
            return _structs(node).map(lambda fields: node.cls(**fields))
        case inspect.ListType():
            return st.lists(_values(node.item_type), min_size=node.min_length or 0, max_size=2)
        case inspect.DictType():
            return _mappings(node)
        case _:
            return _scalars(node)


def _mappings(node: inspect.DictType) -> st.SearchStrategy[Any]:
    if isinstance(node.value_type, inspect.AnyType):
        return FREE_FORM
    return st.dictionaries(TEXT, _values(node.value_type), max_size=2)


def _scalars(node: inspect.Type) -> st.SearchStrategy[Any]:
    match node:
        case inspect.IntType():
            return st.integers(node.ge if node.ge is not None else -5, node.le if node.le is not None else 2**31 - 1)
        case inspect.StrType(pattern=str() as pattern):
            return st.from_regex(pattern, fullmatch=True).filter(lambda text: len(text) <= (node.max_length or 99))
        case inspect.StrType():
            return st.text(st.characters(codec="utf-8"), min_size=node.min_length or 0, max_size=5)
        case inspect.LiteralType():
            return st.sampled_from(node.values)
        case _:
            return SIMPLE[type(node)]
