"""The metadata service takes the file that the operator renders, in both dialects, and nothing it does not know."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.standins.metadata.config import GarbageCollection, Keepalive, load_config
from firebolt_local.standins.releases import Release, release_of
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.instance.render.metadata_config import metadata_config
from tests.support.child_processes import python_environment
from tests.support.instances import EXTERNAL, an_instance

ULID = "01J00000000000000000000000"
EVERY_DIALECT = pytest.mark.parametrize("dialect", ["XML", "YAML"])


def rendered(folder: Path, instance: FireboltInstance) -> Path:
    file = metadata_config(instance)
    path = folder / file.name
    path.write_text(file.text)
    return path


@EVERY_DIALECT
def test_given_what_the_operator_renders_then_every_value_arrives(tmp_path: Path, dialect: str) -> None:
    external = EXTERNAL | {"port": 5433, "schema": "no"}
    instance = an_instance(id="<a> & b: 1", metadata={"configFormat": dialect, "postgres": external})
    config = load_config(rendered(tmp_path, instance))
    server = config.metadata_storage.postgresql
    assert (config.default_account_id, config.host, config.port) == ("<a> & b: 1", "0.0.0.0", 7000)
    assert (server.host, server.port, server.database, server.schema) == ("db.example", 5433, "meta", "no")
    assert server.keepalive == Keepalive(enabled=1, idle_sec=120, interval_sec=30, count=5)
    assert config.metadata_storage.garbage_collection == GarbageCollection(
        enabled=True, interval_ms=3_600_000, time_horizon_sec=86_400
    )


@EVERY_DIALECT
def test_given_the_next_generations_file_then_what_is_left_out_has_defaults(tmp_path: Path, dialect: str) -> None:
    config = load_config(rendered(tmp_path, an_instance(metadataNG=True, metadata={"configFormat": dialect})))
    assert config.metadata_storage.garbage_collection is None
    assert config.metadata_storage.postgresql.connect_timeout_sec == 5
    assert config.default_account_id == ""


def test_the_next_generation_refuses_any_other_key(tmp_path: Path) -> None:
    path = rendered(tmp_path, an_instance(metadataNG=True))
    path.write_text(path.read_text().replace("  port: 7000", "  port: 7000\n  default_account_id: x"))
    with pytest.raises(ConfigError, match="unknown field `default_account_id`"):
        load_config(path)


@pytest.mark.parametrize(
    ("release", "spec", "problem"),
    [
        pytest.param(Release.OLD, {"id": ULID}, "", id="old-takes-upper-case"),
        pytest.param(Release.OLD, {"id": ULID.lower()}, "is not in upper case", id="old-refuses-lower-case"),
        pytest.param(Release.OLD, {"id": "acme"}, "", id="old-takes-a-name"),
        pytest.param(Release.OLD, {"metadata": {"configFormat": "YAML"}}, "reads XML only", id="old-refuses-yaml"),
        pytest.param(Release.OLD, {"metadataNG": True}, "reads XML only", id="old-refuses-the-next-generation"),
        pytest.param(Release.NEW, {"id": ULID}, "", id="new-takes-upper-case"),
        pytest.param(Release.NEW, {"id": ULID.lower()}, "", id="new-takes-lower-case"),
        pytest.param(Release.NEW, {"metadata": {"configFormat": "YAML"}}, "", id="new-takes-yaml"),
        pytest.param(Release.EITHER, {"id": ULID.lower()}, "", id="either-takes-lower-case"),
    ],
)
def test_each_release_refuses_what_the_real_one_refuses(
    tmp_path: Path, release: Release, spec: dict[str, Any], problem: str
) -> None:
    path = rendered(tmp_path, an_instance(**spec))
    if not problem:
        load_config(path, release)
        return
    with pytest.raises(ConfigError, match=problem):
        load_config(path, release)


def test_a_release_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="neither old nor new"):
        release_of({"FIREBOLT_STANDIN_RELEASE": "4.0"})


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        pytest.param("<port>7000", "<surprise>1</surprise><port>7000", "unknown field `surprise`", id="unknown"),
        pytest.param("<count>5", "<surprise>1</surprise><count>5", "unknown field `surprise`", id="unknown-far-down"),
        pytest.param("<port>7000", "<port>1</port><port>7000", "more than one <port>", id="twice"),
        pytest.param("<port>7000", "<port unit='x'>7000", "unknown attributes: unit", id="attribute"),
        pytest.param("<port>7000", "<port>many", "Expected `int`", id="no-number"),
        pytest.param("</pensieve_lite>", "", "mismatched tag", id="not-xml"),
        pytest.param("config>", "yandex>", "unknown root element <yandex>", id="another-root"),
    ],
)
def test_given_a_wrong_file_then_it_is_refused(tmp_path: Path, before: str, after: str, problem: str) -> None:
    path = rendered(tmp_path, an_instance())
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    assert problem in str(refused.value)


def test_given_no_credential_files_then_the_program_says_so_and_exits(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "firebolt_local.standins.metadata", "--config", str(rendered(tmp_path, an_instance()))],
        env={"PYTHONPATH": python_environment()["PYTHONPATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == EXIT_CONFIG
    assert "POSTGRES_USERNAME_FILE" in ended.stderr
