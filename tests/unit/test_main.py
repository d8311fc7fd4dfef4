import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from firebolt_operator.main import dispatch

SOURCES = Path(__file__).parents[2] / "src"


def test_version_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["version"], {}) == 0
    by_command = capsys.readouterr().out
    assert dispatch(["--version"], {}) == 0
    assert capsys.readouterr().out == by_command
    assert by_command.strip()


def test_crds_are_a_document_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["crds"], {}) == 0
    kinds = [document["spec"]["names"]["kind"] for document in yaml.load_all(capsys.readouterr().out, yaml.CSafeLoader)]
    assert sorted(kinds) == [
        "ClusterFireboltEngineClass",
        "FireboltEngine",
        "FireboltEngineClass",
        "FireboltEnginePreset",
        "FireboltInstance",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["dance"], "unknown command 'dance'", id="unknown-command"),
        pytest.param(["run", "--no-such-flag"], "flag provided but not defined: -no-such-flag", id="unknown-flag"),
        pytest.param(["wake-agent", "--no-such-flag"], "flag provided but not defined: -no-such-flag", id="agent-flag"),
        pytest.param(
            ["run", "--leader-elect", "true", "--nonsense", "--namespaces", "a"],
            'unexpected argument "true": write --leader-elect=true',
            id="stray-word",
        ),
        pytest.param(["--namespaces", "a", "run"], 'unexpected argument "run"', id="command-after-flags"),
        pytest.param(["wake-agent", "--namespace=a", "b"], 'unexpected argument "b"', id="agent-word"),
        pytest.param(["crds", "--nonsense"], "flag provided but not defined: -nonsense", id="crds-flag"),
        pytest.param(["crds", "all"], 'unexpected argument "all"', id="crds-word"),
        pytest.param(["version", "--short"], "flag provided but not defined: -short", id="version-flag"),
        pytest.param(["version", "now"], 'unexpected argument "now"', id="version-word"),
        pytest.param(["--leader-elect=maybe"], 'invalid boolean value "maybe"', id="flags-alone-mean-run"),
    ],
)
def test_bad_words_show_the_usage_and_exit_with_2(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(words, {}) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--help"], "--drain-settle"), (["crds", "-h"], "crds"), (["version", "--help"], "version")],
)
def test_help_exits_with_0(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(words, {}) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--engine-max-cpu=lots"], "engine-max-cpu", id="bound"),
        pytest.param(["--watch-label-selector=a===b"], "watch-label-selector", id="selector"),
        pytest.param(["--drain-settle=-1s"], "drain-settle", id="settle"),
        pytest.param(["--kubeconfig=/nonexistent/config"], "/nonexistent/config", id="credentials"),
    ],
)
def test_a_bad_setting_ends_the_process_with_1_and_names_it(words: list[str], said: str) -> None:
    command = [sys.executable, "-m", "firebolt_operator.main", "run", *words]
    environment = {"PYTHONPATH": str(SOURCES)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
