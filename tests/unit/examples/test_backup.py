"""Do the backup and the restore of the examples work? Their own commands run against a real PostgreSQL."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
import yaml

from firebolt_local.cluster.ports import LOOPBACK
from firebolt_operator.api import names
from firebolt_operator.flags import parse_flags
from firebolt_operator.instance.database_login import KEY_DATABASE, KEY_PASSWORD, KEY_USERNAME
from firebolt_operator.refs import Manifest
from firebolt_operator.settings import FLAGS
from tests.support.standins.postgres import DATABASE, PASSWORD, USER, PostgresServer, running_postgres

EXAMPLES = Path(__file__).parents[3] / "examples"
LOGIN = {KEY_USERNAME: USER, KEY_PASSWORD: PASSWORD, KEY_DATABASE: DATABASE}
WRITTEN = """
    CREATE TABLE account (id text PRIMARY KEY, revision serial);
    CREATE TABLE object (name text PRIMARY KEY, account text NOT NULL REFERENCES account, content bytea);
    INSERT INTO account (id) VALUES ('01OLD');
    INSERT INTO object SELECT 'object ' || n, '01OLD', decode(repeat(md5(n::text), 200), 'hex')
        FROM generate_series(1, 500) AS n;
"""
FINGERPRINT = "SELECT count(*), md5(string_agg(name || account || content::text, ',' ORDER BY name)) FROM object"


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def target(postgres: PostgresServer) -> Generator[str]:
    """Another database: of a new instance, or of an external server. Its metadata service has been there already."""
    postgres.run("createdb", "target")
    sql(postgres, "target", "CREATE TABLE account (id text PRIMARY KEY, revision serial)")
    sql(postgres, "target", "INSERT INTO account (id) VALUES ('01NEW')")
    yield "target"
    postgres.run("dropdb", "--force", "target")


@pytest.fixture
def source(postgres: PostgresServer) -> Generator[str]:
    sql(postgres, DATABASE, WRITTEN)
    yield DATABASE
    sql(postgres, DATABASE, "DROP TABLE object, account")


def sql(server: PostgresServer, database: str, text: str) -> str:
    return server.run("psql", "-d", database, "-v", "ON_ERROR_STOP=1", "-Atc", text)


def pod_of(example: str) -> Manifest:
    document: Manifest = list(yaml.load_all((EXAMPLES / example).read_text(), yaml.CSafeLoader))[-1]
    spec = document["spec"]["jobTemplate"]["spec"] if document["kind"] == "CronJob" else document["spec"]
    pod: Manifest = spec["template"]["spec"]
    return pod


def run(example: str, server: PostgresServer, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """As a kubelet would, but for where the server and the folder are."""
    (container,) = pod_of(example)["containers"]
    values = {each["name"]: each["value"] if "value" in each else secret(each) for each in container["env"]}
    place = {"BACKUP_FOLDER": str(folder), "PGHOST": LOOPBACK, "PGPORT": str(server.port)}
    path = f"{server.binaries}:{os.environ['PATH']}"
    return subprocess.run(
        container["command"],
        env={**values, **place, "PATH": path, **changes},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def secret(variable: Manifest) -> str:
    reference = variable["valueFrom"]["secretKeyRef"]
    assert reference["name"] == names.metadata_credentials_name("demo")
    return LOGIN[reference["key"]]


def dumps(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_what_was_backed_up_comes_back_into_another_database(
    postgres: PostgresServer, source: str, target: str, tmp_path: Path
) -> None:
    assert run("backup.yaml", postgres, tmp_path).stderr == ""
    (dump,) = dumps(tmp_path)
    restored = run("restore.yaml", postgres, tmp_path, PGDATABASE=target)
    assert (restored.returncode, restored.stderr) == (0, "")
    assert dump in restored.stdout
    assert sql(postgres, target, FINGERPRINT) == sql(postgres, source, FINGERPRINT)
    assert sql(postgres, target, "SELECT id FROM account") == "01OLD"
    # Sequences go on where they were, and keys are keys.
    assert sql(postgres, target, "INSERT INTO account (id) VALUES ('next') RETURNING revision").splitlines()[0] == "2"


def test_a_restore_that_fails_half_way_leaves_the_database_as_it_was(
    postgres: PostgresServer, source: str, target: str, tmp_path: Path
) -> None:
    del source
    run("backup.yaml", postgres, tmp_path)
    (dump,) = tmp_path.iterdir()
    dump.write_bytes(dump.read_bytes()[:-2000])
    failed = run("restore.yaml", postgres, tmp_path, PGDATABASE=target)
    assert failed.returncode != 0
    assert sql(postgres, target, "SELECT id FROM account") == "01NEW"
    assert sql(postgres, target, "SELECT count(*) FROM pg_tables WHERE tablename = 'object'") == "0"


def test_a_backup_that_fails_costs_no_older_one(postgres: PostgresServer, tmp_path: Path) -> None:
    (tmp_path / "demo-20200101T000000Z.dump").write_text("older")
    failed = run("backup.yaml", postgres, tmp_path, PGPASSWORD="wrong", BACKUPS_KEPT="0")
    assert failed.returncode != 0
    assert "password authentication failed" in failed.stderr
    assert [name for name in dumps(tmp_path) if name.endswith(".dump")] == ["demo-20200101T000000Z.dump"]


def test_the_newest_are_kept_and_files_of_others_left_alone(postgres: PostgresServer, tmp_path: Path) -> None:
    for day in range(1, 6):
        (tmp_path / f"demo-2020010{day}T000000Z.dump").write_text("older")
    (tmp_path / "notes.txt").write_text("mine")
    assert run("backup.yaml", postgres, tmp_path, BACKUPS_KEPT="3").returncode == 0
    kept = dumps(tmp_path)
    assert kept[:2] == ["demo-20200104T000000Z.dump", "demo-20200105T000000Z.dump"]
    assert (len(kept), kept[-1]) == (4, "notes.txt")


def test_a_chosen_backup_is_restored_instead_of_the_newest(
    postgres: PostgresServer, source: str, target: str, tmp_path: Path
) -> None:
    del source
    run("backup.yaml", postgres, tmp_path)
    (dump,) = tmp_path.iterdir()
    dump.rename(tmp_path / "demo-20200101T000000Z.dump")
    (tmp_path / "demo-20990101T000000Z.dump").write_text("not this one")
    chosen = "demo-20200101T000000Z.dump"
    assert run("restore.yaml", postgres, tmp_path, PGDATABASE=target, BACKUP=chosen).returncode == 0
    assert sql(postgres, target, "SELECT id FROM account") == "01OLD"


@pytest.mark.parametrize("example", ["backup.yaml", "restore.yaml"])
def test_the_pods_pass_pod_security_and_use_the_servers_own_image(example: str) -> None:
    pod = pod_of(example)
    assert pod["securityContext"]["runAsNonRoot"]
    (container,) = pod["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["image"] == parse_flags((), FLAGS, {})["postgres-image"]
    assert {"name": "PGHOST", "value": names.postgres_name("demo")} in container["env"]
