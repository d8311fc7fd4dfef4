"""Is every mistake one clear sentence and exit code 1, before the cluster is asked for anything?"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_firebolt.completion import offered
from tests.support.plugin import Plugin, PluginHere, an_engine, asked, played_kubectl
from tests.unit.plugin.conftest import Played


@pytest.fixture
def idle(played: Played) -> PluginHere:
    """Nobody may ask its kubectl for anything."""
    return played()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("engine list --sideways", "No such option: --sideways"),
        ("engine list here", "Got unexpected extra argument(s) (here)"),
        ("engine list -o xml", '-o/--output: "xml" is not one of table, wide, json, yaml, name'),
        ("instance list -o xml", '-o/--output: "xml" is not one of table, wide, json, yaml, name'),
        ("engine create e1", "Missing option '--instance'."),
        ("engine create --instance i1", "Missing argument 'ENGINE'."),
        ("engine create e1 --instance i1 --timeout 5x", '--timeout: "5x" is not a duration'),
        ("engine create e1 --instance i1 --replicas -1", "Invalid value for '--replicas'"),
        ("engine stop e1 --timeout soon", '--timeout: "soon" is not a duration'),
        ("engine start e1 --print-commands", "say --replicas"),
        ("sideways", "No such command 'sideways'."),
    ],
)
def test_mistakes(idle: PluginHere, typed: str, told: str) -> None:
    assert told in idle.refuses(*typed.split())
    assert asked(idle.kubectl) == []


def test_without_kubectl(played: Played) -> None:
    plugin = played(PATH="/nowhere")
    assert "kubectl is not on PATH" in plugin.refuses("engine", "list")


def test_what_kubectl_complains_about_is_told(played: Played) -> None:
    plugin = played(("get", "echo no such context >&2; exit 1"))
    told = plugin.refuses("--context", "nowhere", "engine", "list")
    assert told == "kubectl --context nowhere get fireboltengine -o json failed: exit status 1\nno such context"


@pytest.mark.parametrize("typed", [[], ["engine"], ["instance"]])
def test_a_group_alone_shows_its_commands(idle: PluginHere, typed: list[str]) -> None:
    told = idle.says(*typed)
    assert f"Usage: {' '.join(['kubectl firebolt', *typed])} [OPTIONS] COMMAND" in told
    assert "kubectl-firebolt" not in told


def test_versions(idle: PluginHere) -> None:
    bare = idle.says("version")
    assert idle.says("--version") == f"firebolt version {bare}"


@pytest.mark.parametrize(
    ("typed", "verbs"),
    [
        ("engine list", ["get"]),
        ("instance list -o json", ["get"]),
        ("preset list", ["get"]),
        ("preset get", ["get"]),
        ("engine delete e1", ["delete"]),
        ("engine create e1 --instance i1 --bucket b", ["apply", "wait"]),
        ("engine create e1 --instance i1 --bucket b --replicas 0", ["apply"]),
        ("engine stop e1", ["scale", "wait"]),
        ("engine start e1 --replicas 2 --no-wait", ["scale"]),
        ("engine restart e1", ["patch", "wait"]),
    ],
)
def test_printed_commands_touch_nothing(idle: PluginHere, typed: str, verbs: list[str]) -> None:
    told = idle.says(*typed.split(), "--print-commands")
    commands = [line for line in told.splitlines() if line.startswith("kubectl ")]
    assert [command.split()[1] for command in commands] == verbs
    assert asked(idle.kubectl) == []


def test_a_missing_bucket_is_warned_of(played: Played) -> None:
    create = ("engine", "create", "e1", "--instance", "i1")
    rules = (("get", "echo gone >&2; exit 1"), ("apply", "cat >/dev/null; exit 0"), ("wait", "exit 0"))
    plugin = played(*rules)
    assert plugin.run(*create).stderr == (
        "warning: no object storage is configured: --bucket is not given; the engine may not become Ready\n"
    )
    told = plugin.run(*create, "--type", "c1").stderr
    assert 'warning: could not verify the object storage of class "c1": kubectl get fireboltengineclass c1' in told
    assert 'class "c1" names none; the engine may not become Ready' in told
    assert plugin.run(*create, "--bucket", "b").stderr == ""
    assert "warning" in plugin.run(*create, "--print-commands").stderr
    assert plugin.run(*create, "--type", "c1", "--print-commands").stderr == ""


def test_a_wait_that_fails_says_where_to_look(played: Played) -> None:
    rules = (("apply", "exit 0"), ("wait", "exit 1"))
    plugin = played(*rules, namespace="ns")
    told = plugin.run("engine", "create", "e1", "--instance", "i1", "--bucket", "b").stderr
    assert told.endswith("exit status 1\nsee what keeps it: kubectl describe fireboltengine/e1 -n ns\n")


@pytest.mark.parametrize(
    ("replicas", "command", "told"),
    [
        (0, "restart", "fireboltengine/e1 is stopped, there is nothing to restart: kubectl firebolt engine start e1"),
        (2, "start", "fireboltengine/e1 is not stopped, it has 2 node(s); --replicas changes their number"),
        (0, "start", "nothing tells how many nodes fireboltengine/e1 had: say --replicas"),
    ],
)
def test_what_makes_no_sense_is_refused(played: Played, tmp_path: Path, replicas: int, command: str, told: str) -> None:
    (tmp_path / "engine.json").write_text(json.dumps(an_engine(spec={"replicas": replicas})))
    plugin = played(("get", f"cat {tmp_path}/engine.json; exit 0"))
    assert plugin.refuses("engine", command, "e1") == told


def is_running(pid: int) -> bool:
    """One that has ended has no words any more, whether or not somebody has noticed."""
    words = Path(f"/proc/{pid}/cmdline")
    return words.exists() and words.read_bytes() != b""


def test_an_order_to_end_ends_kubectl_too(tmp_path: Path) -> None:
    started = tmp_path / "started"
    body = f"echo $$ > {started}.part; mv {started}.part {started}; exec sleep 600"
    plugin = Plugin(played_kubectl(tmp_path, ("get", body)))
    watcher = f"import os,time\nwhile not os.path.exists({str(started)!r}): time.sleep(0.01)"
    with subprocess.Popen(plugin.command("engine", "list"), env=plugin.variables(), stderr=subprocess.PIPE) as process:
        subprocess.run([sys.executable, "-c", watcher], check=True, timeout=60)
        process.terminate()
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (1, b"error: interrupted\n")
    assert not is_running(int(started.read_text()))


@pytest.mark.parametrize(
    ("typed", "offer"),
    [
        (["en"], {"engine"}),
        (["engine", "st"], {"stop", "start"}),
        (["-n", "ns", "engine", "list", "-o", ""], {"table", "wide", "json", "yaml", "name"}),
        (["engine", "list", "--name"], {"--namespace"}),
    ],
)
def test_completion(typed: list[str], offer: set[str]) -> None:
    assert set(offered(typed)) == offer


def test_completion_knows_the_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = ("get -n ns fireboltengine -o name", "echo fireboltengine.compute.firebolt.io/analytics; exit 0")
    monkeypatch.setenv("PATH", f"{played_kubectl(tmp_path, rule).parent}:/usr/bin:/bin")
    assert offered(["engine", "stop", "-n", "ns", ""]) == ["analytics"]
    assert offered(["engine", "stop", "-n", "elsewhere", ""]) == []
