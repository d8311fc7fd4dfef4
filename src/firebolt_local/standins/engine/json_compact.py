"""How does a result look on the wire? As JSON_Compact: columns first, then rows as arrays, then totals."""

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, Final

import msgspec

from firebolt_local.standins.engine.database import Column, Row

_NAMES: Final = {
    "BOOLEAN": "boolean",
    "TINYINT": "int",
    "SMALLINT": "int",
    "UTINYINT": "int",
    "USMALLINT": "int",
    "INTEGER": "int",
    "UINTEGER": "long",
    "BIGINT": "long",
    "UBIGINT": "Decimal(38, 0)",
    "HUGEINT": "Decimal(38, 0)",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "text",
    "DATE": "date",
    "TIMESTAMP": "timestampntz",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
    "BLOB": "bytea",
}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_JSON_AS_IS: Final = frozenset({"boolean", "int", "long", "float", "double", "text"})
_encode = msgspec.json.Encoder().encode
Convert = Callable[[Any], Any]


def type_name(duckdb_type: str) -> str:
    if duckdb_type.endswith("[]"):
        return f"array({type_name(duckdb_type.removesuffix('[]'))})"
    if found := _DECIMAL.fullmatch(duckdb_type):
        return f"Decimal({found[1]}, {found[2]})"
    return _NAMES.get(duckdb_type, "text")


class Document:
    """Written piece by piece, so that a result never has to fit into memory."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = [(column.name, type_name(column.type)) for column in columns]
        self._converts = [_convert(duckdb_type.type) for duckdb_type in columns]
        self._rows = 0

    def head(self) -> bytes:
        meta = [{"name": name, "type": type_} for name, type_ in self._columns]
        return b'{"meta":' + _encode(meta) + b',"data":['

    def rows(self, rows: Sequence[Row]) -> bytes:
        plain = [[convert(value) for convert, value in zip(self._converts, row, strict=True)] for row in rows]
        separator = b"," if self._rows and rows else b""
        self._rows += len(rows)
        return separator + _encode(plain)[1:-1]

    def tail(self, *, elapsed_seconds: float) -> bytes:
        statistics = {"elapsed": elapsed_seconds, "rows_read": self._rows, "bytes_read": 0}
        return b'],"rows":' + _encode(self._rows) + b',"statistics":' + _encode(statistics) + b"}"


def _convert(duckdb_type: str) -> Convert:
    if duckdb_type.endswith("[]"):
        inner = _convert(duckdb_type.removesuffix("[]"))
        return lambda value: None if value is None else [inner(each) for each in value]
    if type_name(duckdb_type) in _JSON_AS_IS and duckdb_type in _NAMES:
        return _unchanged
    return _text


def _unchanged(value: Any) -> Any:
    return value


def _text(value: Any) -> str | None:
    match value:
        case None:
            return None
        case bytes():
            return "\\x" + value.hex()
        case datetime():
            return value.isoformat(sep=" ")
        case date():
            return value.isoformat()
        case _:
            return str(value)
