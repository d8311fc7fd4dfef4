"""The metadata service serves while its database answers, and never writes into another instance's."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.standins.engine.metadata_probe import NoAnswerError, metadata_status
from firebolt_local.standins.health_messages import ServingStatus
from firebolt_operator.instance.render.metadata_config import metadata_config
from tests.support.instances import ID, an_instance
from tests.support.standins.postgres import DATABASE, PASSWORD, USER, PostgresServer, running_postgres
from tests.support.standins.programs import ended, eventually, running_program

ACCOUNTS = "SELECT account_id FROM {schema}.pensieve_account"


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_postgres() as server:
        yield server


@dataclass(frozen=True, slots=True)
class MetadataProcess:
    process: asyncio.subprocess.Process
    endpoint: str
    log: Path

    async def says(self, status: ServingStatus) -> None:
        async def is_so() -> bool:
            try:
                return await metadata_status(self.endpoint) is status
            except NoAnswerError:
                return False

        await eventually(is_so, f"the metadata service says {status.name}")


@asynccontextmanager
async def running_metadata(
    folder: Path, postgres: PostgresServer, *, account: str = ID, schema: str = "public", password: str = PASSWORD
) -> AsyncGenerator[MetadataProcess]:
    """With the files as the operator renders and mounts them."""
    server = {"host": LOOPBACK, "port": postgres.port, "database": DATABASE, "schema": schema}
    external = server | {"credentialsSecretRef": {"name": "login"}}
    file = metadata_config(an_instance(id=account, metadata={"postgres": external}))
    for name, text in ((file.name, file.text), ("username", USER), ("password", password)):
        (folder / name).write_text(text)
    port = free_port()
    environment = {
        "STANDIN_ADDRESS": LOOPBACK,
        "STANDIN_METADATA_PORT": str(port),
        "POSTGRES_USERNAME_FILE": str(folder / "username"),
        "POSTGRES_PASSWORD_FILE": str(folder / "password"),
    }
    log = folder / "metadata.log"
    async with running_program("metadata", ["--config", str(folder / file.name)], environment, log) as process:
        yield MetadataProcess(process, f"{LOOPBACK}:{port}", log)


async def test_given_a_database_then_it_serves_keeps_its_account_and_stops_cleanly(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    for _ in range(2):  # a second start finds everything in place
        async with running_metadata(tmp_path, postgres, schema="first") as metadata:
            await metadata.says(ServingStatus.SERVING)
            metadata.process.send_signal(signal.SIGTERM)
            assert await ended(metadata.process) == 0
    assert postgres.run("psql", "-d", DATABASE, "-Atc", ACCOUNTS.format(schema="first")) == ID


async def test_given_another_instances_database_then_it_refuses_to_start(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    async with running_metadata(tmp_path, postgres, schema="odd-name.2", account="mine") as metadata:
        await metadata.says(ServingStatus.SERVING)
    async with running_metadata(tmp_path, postgres, schema="odd-name.2", account="another") as metadata:
        assert await ended(metadata.process) == 1
        assert "belongs to account 'mine', this is 'another'" in metadata.log.read_text()
    assert postgres.run("psql", "-d", DATABASE, "-Atc", ACCOUNTS.format(schema='"odd-name.2"')) == "mine"


async def test_given_a_database_that_goes_away_then_it_serves_only_while_it_is_there(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    async with running_metadata(tmp_path, postgres) as metadata:
        await metadata.says(ServingStatus.SERVING)
        await asyncio.to_thread(postgres.stop)
        await metadata.says(ServingStatus.NOT_SERVING)
        await asyncio.to_thread(postgres.start)
        await metadata.says(ServingStatus.SERVING)


async def test_given_a_wrong_password_then_it_lives_but_does_not_serve(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    async with running_metadata(tmp_path, postgres, password="guess") as metadata:
        await metadata.says(ServingStatus.NOT_SERVING)

        async def has_tried() -> bool:
            return "password authentication failed" in metadata.log.read_text()

        await eventually(has_tried, "the database has refused the password")
        # Credentials that are put right need no restart.
        (tmp_path / "password").write_text(PASSWORD)
        await metadata.says(ServingStatus.SERVING)
