"""How is SQL executed? By DuckDB, on the caller's thread, in batches, until somebody cancels it."""

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import duckdb

BATCH_ROWS: Final = 1000
_SLEEP: Final = re.compile(r"\bsleep\s*\(\s*(\d+(?:\.\d+)?)\s*\)", re.IGNORECASE)
_OPTIONS: Final = {
    "autoinstall_known_extensions": "false",  # a pod has no business downloading programs
    "enable_external_access": "false",  # nor may a query read the pod's files
}
# Everything else is wrong with the query.
_OWN_FAULTS: Final = (duckdb.OperationalError, duckdb.InternalError, duckdb.FatalException, duckdb.InterruptException)

Row = tuple[Any, ...]


class QueryFailedError(Exception):
    def __init__(self, message: str, *, is_callers_fault: bool) -> None:
        super().__init__(message)
        self.is_callers_fault = is_callers_fault


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str  # DuckDB's name of it


class Query:
    """One query on a connection of its own. Only `interrupt` may be called from another thread."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, sql: str) -> None:
        self._cursor = cursor
        self._sql = sql
        self._has_result = False

    def execute(self) -> list[Column]:
        """The columns of the last statement's result; none if it has no result, like CREATE TABLE."""
        try:
            statements = self._cursor.extract_statements(self._sql)
            if not statements:
                raise QueryFailedError("the query is empty", is_callers_fault=True)
            for statement in statements:
                self._cursor.execute(statement)
        except duckdb.Error as err:
            raise _translated(err) from err
        columns = [Column(name, str(kind)) for name, kind, *_ in self._cursor.description or []]
        self._has_result = not _is_change(statements[-1], columns)
        return columns if self._has_result else []

    def fetch(self) -> list[Row]:
        """The next rows; none at the end."""
        if not self._has_result:
            return []
        try:
            rows: list[Row] = self._cursor.fetchmany(BATCH_ROWS)
        except duckdb.Error as err:
            raise _translated(err) from err
        return rows

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def close(self) -> None:
        self._cursor.close()


class Database:
    def __init__(self, path: Path) -> None:
        self._connection = duckdb.connect(path, config=dict(_OPTIONS))
        self._connection.execute("CREATE OR REPLACE MACRO sleep(seconds) AS 0")

    def query(self, sql: str) -> Query:
        return Query(self._connection.cursor(), sql)

    def close(self) -> None:
        self._connection.close()


def requested_sleep(sql: str) -> timedelta:
    """How long the text's `sleep(2)` calls take together: they return 0, and the engine waits before it executes.

    So a long and silent query costs neither processor time nor memory.
    """
    return timedelta(seconds=sum(float(seconds) for seconds in _SLEEP.findall(sql)))


def _is_change(statement: duckdb.Statement, columns: list[Column]) -> bool:
    """DuckDB answers a change with a count, where Firebolt answers nothing. RETURNING makes it a result."""
    if statement.expected_result_type[0].name == "QUERY_RESULT":
        return False
    return [column.name for column in columns] in ([], ["Count"])


def _translated(err: duckdb.Error) -> QueryFailedError:
    return QueryFailedError(str(err), is_callers_fault=not isinstance(err, _OWN_FAULTS))
