"""Does `firebolt-local` start what it says, find it again after a crash, and leave nothing behind?"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import firebolt_local
from firebolt_local.cluster import processes
from firebolt_local.cluster.folder import ClusterFolder
from tests.support.child_processes import hears_interrupts

# Built beforehand, not on the clock of a command.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("built_programs")]
UP = ("up", "--control-plane")


class CommandLine:
    """`python -m firebolt_local`, with a state folder of this test's own."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(Path(firebolt_local.__file__).parent.parent),
            "XDG_STATE_HOME": str(self.state),
        }

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "firebolt_local", *arguments]
        full = {**self.environment, **environment}
        return subprocess.run(command, env=full, capture_output=True, text=True, check=False, timeout=300)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "firebolt_local", *arguments]
        with hears_interrupts():
            return subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def cluster(self, name: str = "default") -> ClusterFolder:
        return ClusterFolder(self.state / "firebolt-local" / name)


@pytest.fixture
def command_line(tmp_path: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(tmp_path)
    yield command_line
    for path in (command_line.state / "firebolt-local").glob("*/cluster.json"):
        command_line.run("down", "--name", path.parent.name)


def traces(folder: Path) -> dict[str, Sequence[str]]:
    """What a cluster could leave behind on this machine."""
    ours = [path for path in Path("/proc").glob("[0-9]*/cwd") if _link(path).startswith(str(folder))]
    return {
        "processes": [str(path) for path in ours],
        "files": [str(path) for path in folder.rglob("*")],
        "mounts": [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(folder) in line],
        "namespaces": sorted(str(path) for path in Path("/run/netns").glob("firebolt*")),
    }


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def test_given_up_and_down_then_it_worked_and_nothing_is_left(command_line: CommandLine) -> None:
    command_line.state.mkdir()
    before = traces(command_line.state)
    done = command_line.run(*UP, "--simulated-pods")
    assert (done.returncode, done.stderr) == (0, "")
    kubeconfig = command_line.run("kubeconfig").stdout.strip()
    assert f"export KUBECONFIG={kubeconfig}" in done.stdout
    names = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "scrape-server"}
    assert set(command_line.cluster().processes()) == names
    assert command_line.cluster().is_running()
    status = command_line.run("status")
    assert (status.returncode, status.stdout.split(",")[0]) == (0, "default: up")
    assert "Starting Kubernetes Scheduler" in command_line.run("logs", "kube-scheduler").stdout
    assert command_line.run("down").returncode == 0
    assert traces(command_line.state) == before


def test_given_it_is_up_then_up_says_so_and_succeeds(command_line: CommandLine) -> None:
    command_line.run(*UP)
    before = command_line.cluster().processes()
    again = command_line.run(*UP)
    assert again.returncode == 0
    assert "default is already up" in again.stdout
    assert command_line.cluster().processes() == before
    other = command_line.run(*UP, "--simulated-pods")
    assert other.returncode == 1
    assert "run firebolt-local down first" in other.stderr


def test_given_two_names_then_both_live_side_by_side_and_end_alone(command_line: CommandLine, tmp_path: Path) -> None:
    command_line.run(*UP, "--name", "one")
    elsewhere = str(tmp_path / "elsewhere")
    command_line.run(*UP, "--name", "two", "--folder", elsewhere)
    assert command_line.run("down", "--name", "one").returncode == 0
    assert ClusterFolder(Path(elsewhere)).is_running()
    assert command_line.run("status", "--name", "two", "--folder", elsewhere).returncode == 0
    assert command_line.run("down", "--name", "two", "--folder", elsewhere).returncode == 0
    assert traces(tmp_path)["processes"] == []
    assert not Path(elsewhere).exists()


def test_given_everything_was_killed_then_status_says_so_and_up_works(command_line: CommandLine) -> None:
    command_line.run(*UP)
    processes.kill(list(command_line.cluster().processes().values()))
    broken = command_line.run("status")
    assert (broken.returncode, broken.stdout.split(",")[0]) == (1, "default: broken")
    again = command_line.run(*UP)
    assert again.returncode == 0
    assert "was cut short" in again.stdout
    assert command_line.cluster().is_running()


def test_given_some_were_killed_then_up_ends_the_rest_first(command_line: CommandLine) -> None:
    command_line.run(*UP)
    before = command_line.cluster().processes()
    processes.kill([before["kube-apiserver"]])
    assert command_line.run(*UP).returncode == 0
    assert not any(record.is_alive() for record in before.values())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_given_up_was_cut_short_then_the_next_up_works(command_line: CommandLine, number: signal.Signals) -> None:
    starter = command_line.start(*UP)
    first = _eventually(lambda: command_line.cluster().processes().get("kube-apiserver"))
    starter.send_signal(number)
    starter.wait(30)
    assert first.is_alive() == (number == signal.SIGKILL)
    assert command_line.run(*UP).returncode == 0
    assert not first.is_alive()
    assert command_line.cluster().is_running()


def test_given_two_ups_at_once_then_one_starts_and_the_other_finds_it_up(command_line: CommandLine) -> None:
    starter = command_line.start(*UP)
    second = command_line.run(*UP)
    assert starter.wait(60) == 0
    assert second.returncode == 0
    assert len(command_line.cluster().processes()) == 4


def test_given_an_existing_cluster_then_nothing_is_started(command_line: CommandLine) -> None:
    command_line.run(*UP)
    kubeconfig = command_line.run("kubeconfig").stdout.strip()
    used = command_line.run("up", "--existing", "--name", "mine", KUBECONFIG=kubeconfig)
    assert used.returncode == 0
    assert command_line.cluster("mine").processes() == {}
    assert command_line.run("kubeconfig", "--name", "mine").stdout.strip() == kubeconfig
    assert command_line.run("down", "--name", "mine").returncode == 0
    assert command_line.cluster().is_running()


def _eventually(look: "Callable[[], processes.ProcessRecord | None]") -> processes.ProcessRecord:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.01)
    raise AssertionError("it never started")
