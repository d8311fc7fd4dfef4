"""An engine takes the file that the operator renders, and nothing it does not know."""

import copy
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.standins.engine.activity import Activity, exposition
from firebolt_local.standins.engine.config import load_config
from firebolt_local.standins.engine.durations import parse_duration
from firebolt_local.standins.releases import Release
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError
from firebolt_operator.engine.render.engine_config import engine_config
from firebolt_operator.refs import Manifest
from tests.support.child_processes import python_environment
from tests.support.engine_inputs import engine_inputs
from tests.support.standins.programs import engine_document

WITH_EVERYTHING: Manifest = engine_document(7000) | {
    "storage": {"bucket": "shared", "anything": {"goes": True}},
    "endpoints": {
        "http": {
            "listeners": [
                {"type": "tcp", "port": 3473, "tls": {"certificate_file": "/run/c", "private_key_file": "/run/k"}}
            ]
        }
    },
}


def with_path(document: Manifest, *path: str, value: Any) -> Manifest:
    changed = copy.deepcopy(document)
    inner: Any = changed
    for key in path[:-1]:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    inner[path[-1]] = value
    return changed


def written(folder: Path, document: Manifest) -> Path:
    path = folder / "config.yaml"
    path.write_text(json.dumps(document, indent=2))
    return path


def test_given_what_the_operator_renders_then_it_is_accepted(tmp_path: Path) -> None:
    custom = {"customEngineConfig": {"storage": {"bucket": "b"}, "logging": {"level": "debug"}}}
    document = engine_config(engine_inputs(custom), 4)
    config = load_config(written(tmp_path, document), node=1)
    assert config.engine.nodes[1].host == "sales-g4-1.sales-g4-hl.apps.svc.cluster.local"
    assert config.instance.multi_engine.metadata_endpoint == "main-metadata.apps.svc.cluster.local:7000"
    assert config.grace_period == timedelta(seconds=55)
    assert config.query_listener.port == 3473


def test_given_every_section_then_it_is_accepted(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, WITH_EVERYTHING), node=0)
    assert config.query_listener.tls is not None


@pytest.mark.parametrize(
    ("path", "where"),
    [
        pytest.param(("surprise",), "`surprise`", id="root"),
        pytest.param(("instance", "surprise"), "at `$.instance`", id="instance"),
        pytest.param(("instance", "multi_engine", "surprise"), "at `$.instance.multi_engine`", id="multi-engine"),
        pytest.param(("engine", "surprise"), "at `$.engine`", id="engine"),
        pytest.param(("engine", "nodes", "0", "surprise"), "at `$.engine.nodes[0]`", id="node"),
        pytest.param(("logging", "surprise"), "at `$.logging`", id="logging"),
        pytest.param(("endpoints", "surprise"), "at `$.endpoints`", id="endpoints"),
        pytest.param(
            ("endpoints", "http", "listeners", "0", "tls", "surprise"),
            "at `$.endpoints.http.listeners[0].tls`",
            id="listener",
        ),
    ],
)
def test_given_an_unknown_key_then_the_file_is_refused(tmp_path: Path, path: tuple[str, ...], where: str) -> None:
    document = with_path(WITH_EVERYTHING, *path, value=1)
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, document), node=0)
    assert "unknown field `surprise`" in str(refused.value)
    assert where in str(refused.value)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        pytest.param(("schema_version",), "2.0", "Invalid enum value '2.0'", id="another-schema"),
        pytest.param(("instance", "type"), "single", "Invalid enum value 'single'", id="another-type"),
        pytest.param(("engine", "nodes"), [], "engine.nodes has 0 entries", id="no-nodes"),
        pytest.param(("engine", "termination_grace_period"), "soon", "not a duration: 'soon'", id="no-duration"),
        pytest.param(
            ("instance", "multi_engine", "metadata_endpoint"), "here", "want host:port", id="an-endpoint-without-port"
        ),
        pytest.param(("engine", "id"), None, "Expected `str`, got `null`", id="null"),
    ],
)
def test_given_a_wrong_value_then_the_file_is_refused(
    tmp_path: Path, path: tuple[str, ...], value: Any, problem: str
) -> None:
    with pytest.raises(ConfigError, match=r"config\.yaml") as refused:
        load_config(written(tmp_path, with_path(WITH_EVERYTHING, *path, value=value)), node=0)
    assert problem in str(refused.value)


def test_given_a_refused_file_then_the_program_says_so_and_exits(tmp_path: Path) -> None:
    written(tmp_path, engine_document(7000) | {"surprise": 1})
    command = [sys.executable, "-m", "firebolt_local.standins.engine", "server"]
    ended = subprocess.run(
        [*command, "--node", "0", "--data-dir", str(tmp_path)],
        env={"PYTHONPATH": python_environment()["PYTHONPATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == EXIT_CONFIG
    assert "configuration refused" in ended.stderr
    assert "unknown field `surprise`" in ended.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("55s", 55.0), ("1m30s", 90.0), ("250ms", 0.25), ("1h", 3600.0), ("0s", 0.0)]
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


ULID = "01J00000000000000000000000"


@pytest.mark.parametrize(
    ("release", "instance_id", "problem"),
    [
        pytest.param(Release.OLD, ULID, "", id="old-takes-upper-case"),
        pytest.param(Release.NEW, ULID, "is not in lower case", id="new-refuses-upper-case"),
        pytest.param(Release.NEW, ULID.lower(), "", id="new-takes-lower-case"),
        pytest.param(Release.NEW, "ACME", "", id="new-takes-a-name"),
        pytest.param(Release.EITHER, ULID, "", id="either-takes-both"),
    ],
)
def test_each_release_refuses_the_ids_that_the_real_one_refuses(
    tmp_path: Path, release: Release, instance_id: str, problem: str
) -> None:
    path = written(tmp_path, with_path(WITH_EVERYTHING, "instance", "id", value=instance_id))
    if not problem:
        load_config(path, node=0, release=release)
        return
    with pytest.raises(ConfigError, match=problem):
        load_config(path, node=0, release=release)


def test_only_a_new_engine_tells_for_how_long_it_is_idle() -> None:
    assert "firebolt_auto_stop_idle_seconds" in exposition(Activity(tells_idle_time=True))
    assert "firebolt_auto_stop_idle_seconds" not in exposition(Activity())


def test_a_running_query_is_no_idleness() -> None:
    activity = Activity(tells_idle_time=True, last_busy=0.0)
    assert activity.idle_seconds > 0
    with activity.query():
        assert activity.idle_seconds == 0
