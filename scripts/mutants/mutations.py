"""Which small faults can be planted in a module? Each replaces one node of its syntax tree, in its place."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Final

OPPOSITES: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_NOTHING: Final = "nothing"
_OF_THE_LANGUAGE: Final = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)


@dataclass(frozen=True, slots=True)
class Mutant:
    number: int  # finds it again in a fresh tree of the same source
    lines: tuple[int, int]  # from the start of its statement to its own end: whoever runs one of them may notice
    function: str  # qualified; empty outside of functions, where a change takes effect at import
    was: str
    became: str

    def __str__(self) -> str:
        return f"{self.function or 'module'}: `{self.was}` -> `{self.became}`"


@dataclass(frozen=True, slots=True)
class _Place:
    """One child of a node; fields that are lists have an index."""

    where: "_Where"
    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST

    def lines(self) -> tuple[int, int]:
        first = 0 if self.where.statement is None else self.where.statement.lineno
        return first, max(first, getattr(self.node, "end_lineno", None) or 0)

    def put(self, new: ast.AST) -> None:
        ast.copy_location(new, self.node)
        if self.index is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.index] = new


def mutants_of(source: str) -> list[Mutant]:
    return [
        Mutant(
            number, place.lines(), place.where.name if place.where.is_function else "", _text(place.node), _text(new)
        )
        for number, (place, new) in enumerate(_faults(ast.parse(source)))
    ]


def planted(source: str, number: int) -> ast.Module:
    tree = ast.parse(source)
    for found, (place, new) in enumerate(_faults(tree)):
        if found == number:
            place.put(new)
            return ast.fix_missing_locations(tree)
    raise RuntimeError(f"there is no mutant {number}")


@dataclass(frozen=True, slots=True)
class _Where:
    name: str  # of the classes and functions around, joined by dots
    is_function: bool
    statement: ast.stmt | None


def _faults(tree: ast.Module) -> Iterator[tuple[_Place, ast.AST]]:
    for place in list(_places(tree, _Where("", is_function=False, statement=None))):
        for new in _replacements(place):
            yield place, new


def _places(parent: ast.AST, where: _Where) -> Iterator[_Place]:
    """In the order of the source. Names of types, decorators and documentation decide nothing."""
    for field, value in ast.iter_fields(parent):
        if field in {"annotation", "returns", "decorator_list"}:
            continue
        children = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, node in children:
            if not isinstance(node, ast.AST) or _decides_nothing(node):
                continue
            here = replace(where, statement=node) if isinstance(node, ast.stmt) else where
            if here.statement is not None:
                yield _Place(here, parent, field, index, node)
            yield from _places(node, _inside(node, here))


def _inside(node: ast.AST, where: _Where) -> _Where:
    if isinstance(node, ast.ClassDef):
        return _Where(f"{where.name}.{node.name}".lstrip("."), where.is_function, node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _Where(f"{where.name}.{node.name}".lstrip("."), is_function=True, statement=node)
    return where


_SILENT_CALLS: Final = frozenset({"RuntimeError", "TypeVar", "NewType", "cast"})
_NAMED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _decides_nothing(node: ast.AST) -> bool:
    """Documentation, names for type checkers, and the words of an error that says there is a bug."""
    is_documentation = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_export = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    is_silent_call = isinstance(node, ast.Call) and ast.unparse(node.func) in _SILENT_CALLS
    return is_documentation or is_export or is_silent_call


def _replacements(place: _Place) -> Iterator[ast.AST]:
    node = place.node
    if isinstance(node, ast.Compare):
        yield from _swapped_comparisons(node)
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in OPPOSITES:
        new = deepcopy(node)
        new.op = OPPOSITES[type(node.op)]()  # type: ignore[assignment]
        yield new
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)
    elif isinstance(node, ast.Return):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.stmt):
        yield from _without_statement(node)
    if place.field == "test" or (place.field == "ifs" and isinstance(node, ast.expr)):
        yield from _decided(node)


def _swapped_comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    for index, operator in enumerate(node.ops):
        new = deepcopy(node)
        new.ops[index] = OPPOSITES[type(operator)]()  # type: ignore[call-overload]
        yield new


def _decided(node: ast.AST) -> Iterator[ast.AST]:
    """A condition that is always or never met; what swapping its operator does already is left out."""
    if not isinstance(node, ast.Constant):
        yield ast.Constant(value=True)
        yield ast.Constant(value=False)


def _other_constants(node: ast.Constant) -> Iterator[ast.AST]:
    match node.value:
        case bool():
            yield ast.Constant(not node.value)
        case int() | float():
            yield ast.Constant(node.value + 1)
        case str() if node.value:
            yield ast.Constant(f"{node.value}~")
        case _:
            return


def _without_statement(node: ast.stmt) -> Iterator[ast.AST]:
    is_effect = isinstance(node, ast.Expr | ast.Raise | ast.AugAssign | ast.Continue | ast.Break | ast.Delete)
    is_kept = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    if (is_effect or is_kept) and not isinstance(node, _OF_THE_LANGUAGE):
        yield ast.Pass()


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Pass):
        return _NOTHING
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else f"{text[:97]}..."
