"""What does the metadata service keep in PostgreSQL? Its tables, and whose they are."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pg8000.native  # pyright: ignore[reportMissingTypeStubs]
from pg8000.exceptions import Error as PostgresError  # pyright: ignore[reportMissingTypeStubs]

from firebolt_local.standins.metadata.config import PostgreSql

USERNAME_FILE: Final = "POSTGRES_USERNAME_FILE"
PASSWORD_FILE: Final = "POSTGRES_PASSWORD_FILE"


class UnavailableError(Exception):
    """The database does not answer, for now."""


class AnotherAccountError(Exception):
    """The database belongs to another instance: writing to it would mix two instances' data."""


@dataclass(frozen=True, slots=True)
class CredentialFiles:
    username: Path
    password: Path

    @classmethod
    def named_by(cls, environment: Mapping[str, str]) -> "CredentialFiles":
        return cls(Path(environment[USERNAME_FILE]), Path(environment[PASSWORD_FILE]))


@dataclass(frozen=True, slots=True)
class Account:
    id: str  # empty: this service knows none, and a database is its own
    is_exact: bool = True  # else an account in another case is the same one

    def is_of(self, stored: str | None) -> bool:
        if self.is_exact or stored is None:
            return stored == self.id
        return stored.casefold() == self.id.casefold()


class Store:
    """Blocks; every wait is bounded by the configured connect timeout. One thread at a time."""

    def __init__(self, server: PostgreSql, credentials: CredentialFiles, account: Account) -> None:
        self._server = server
        self._credentials = credentials
        self._account = account
        self._connection: pg8000.native.Connection | None = None

    def check(self) -> None:
        """Connects when needed; returns only if the database answers and is ours."""
        try:
            if self._connection is None:
                self._connection = self._connect()
                self._claim(self._connection)
            self._connection.run("SELECT 1")
        except (PostgresError, OSError) as err:
            self.close()
            raise UnavailableError(str(err) or type(err).__name__) from err

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        # Often it is gone already, which is why it is closed.
        with suppress(PostgresError, OSError):
            connection.close()

    def _connect(self) -> pg8000.native.Connection:
        keepalive = self._server.keepalive
        return pg8000.native.Connection(
            user=self._credentials.username.read_text(encoding="utf-8").rstrip("\n"),
            password=self._credentials.password.read_text(encoding="utf-8").rstrip("\n"),
            host=self._server.host.strip("[]"),
            port=self._server.port,
            database=self._server.database,
            timeout=self._server.connect_timeout_sec,
            tcp_keepalive=keepalive is None or bool(keepalive.enabled),
        )

    def _claim(self, connection: pg8000.native.Connection) -> None:
        """Safe to repeat, and to do at the same time as another replica."""
        if not self._account.id:
            return
        schema = self._server.schema
        if not connection.run("SELECT 1 FROM pg_namespace WHERE nspname = :name", name=schema):
            connection.run(f"CREATE SCHEMA IF NOT EXISTS {_quoted(schema)}")
        table = f"{_quoted(schema)}.pensieve_account"
        connection.run(
            f"CREATE TABLE IF NOT EXISTS {table} "
            "(is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only), account_id text NOT NULL)"
        )
        connection.run(f"INSERT INTO {table} (account_id) VALUES (:id) ON CONFLICT DO NOTHING", id=self._account.id)
        rows = connection.run(f"SELECT account_id FROM {table}")
        stored = rows[0][0] if rows else None
        if not self._account.is_of(stored):
            raise AnotherAccountError(f"the database belongs to account {stored!r}, this is {self._account.id!r}")
        if stored != self._account.id:
            connection.run(f"UPDATE {table} SET account_id = :id", id=self._account.id)


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
