"""Do real containers run, reach each other and answer the host, and is nothing left when they are gone?"""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import firebolt_local
from firebolt_local.cluster import processes
from firebolt_local.cluster.folder import ClusterFolder
from firebolt_local.node import cluster as nodes
from firebolt_local.node.cgroups import ClusterGroup, machine_hierarchies
from firebolt_local.node.cluster import NodeCluster
from firebolt_local.node.packages import missing_packages
from firebolt_local.programs import provision
from tests.support.nodes import NODE_PORT, PORT, kubectl, namespaces_of, processes_in, traces, workload

_SECONDS = 120

pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and control groups need root"),
    pytest.mark.skipif(bool(missing_packages()), reason=f"not installed: {' '.join(missing_packages())}"),
]


class CommandLine:
    """`python -m firebolt_local` on one cluster, with a state folder of this test's own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = ClusterFolder(folder / "firebolt-local" / name)
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(Path(firebolt_local.__file__).parent.parent),
            "XDG_STATE_HOME": str(folder),
        }

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._words(command, words),
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def start(self, command: str) -> "subprocess.Popen[bytes]":
        words = self._words(command, ())
        return subprocess.Popen(words, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def cluster(self) -> NodeCluster:
        return nodes.find(self.name, self.folder.path)

    def _words(self, command: str, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "firebolt_local", command, "--name", self.name, *words]


@pytest.fixture(scope="module", autouse=True)
def node_programs() -> None:
    """Built beforehand, not on the clock of a command."""
    provision.provide(provision.FOR_NODES)


@pytest.fixture
def command_line(tmp_path: Path) -> Iterator[CommandLine]:
    command_line = CommandLine(tmp_path, f"test-{os.getpid()}")
    yield command_line
    if command_line.folder.path.exists():
        command_line.run("down")


@pytest.mark.parametrize("count", [1, 2], ids=["one-node", "two-nodes"])
def test_given_nodes_then_pods_work_and_down_leaves_nothing(command_line: CommandLine, count: int) -> None:
    before = traces(command_line.folder.path)
    began_at = time.monotonic()
    done = command_line.run("up", "--nodes", str(count))
    print(f"up took {time.monotonic() - began_at:.1f} s\n{done.stdout}")
    assert (done.returncode, done.stderr) == (0, "")
    cluster = command_line.cluster()
    held = set[str]().union(*(namespaces_of(node.pause_pid) for node in cluster.nodes))
    assert len(held) == 2 * count
    standing = traces(command_line.folder.path)
    assert all((standing.groups, standing.links, standing.routes)), "traces are not seen"

    _check_pods(cluster, count)
    assert "node-1: ready" in command_line.run("status").stdout
    inside = command_line.run("shell", "--node", str(count), "--", "ctr", "images", "list", "--quiet")
    assert "localhost/pause:1" in inside.stdout

    # The numbers of namespaces are given out again at once, those of processes are known by their start as well.
    ours = processes_in(held)
    assert len(ours) > len(command_line.folder.processes()), "containers are not seen"
    began_at = time.monotonic()
    assert command_line.run("down").returncode == 0
    print(f"down took {time.monotonic() - began_at:.1f} s")
    assert traces(command_line.folder.path) == before
    assert not any(record.is_alive() for record in ours)
    assert not command_line.folder.path.parent.exists()


def test_given_everything_was_killed_then_up_cleans_up_and_works(command_line: CommandLine) -> None:
    command_line.run("up")
    first = command_line.cluster()
    for path, manifest in workload():
        first.http.create(path, manifest)
    eventually(lambda: _has_ready_pods(first), "pods")
    ours = ClusterGroup(first.record.cgroup, machine_hierarchies()).members()
    processes.kill(list(command_line.folder.processes().values()))
    assert any(record.is_alive() for record in ours), "containers should live on"
    assert command_line.run("status").returncode == 1
    again = command_line.run("up")
    assert (again.returncode, "was cut short" in again.stdout) == (0, True)
    assert not any(record.is_alive() for record in ours)
    assert command_line.run("status").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_given_up_was_ended_halfway_then_the_next_one_works(command_line: CommandLine, number: signal.Signals) -> None:
    starter = command_line.start("up")
    eventually(lambda: "kube-apiserver" in command_line.folder.processes(), "API server")
    starter.send_signal(number)
    starter.wait(60)
    left = [record for record in command_line.folder.processes().values() if record.is_alive()]
    assert bool(left) == (number == signal.SIGKILL), "a polite end leaves nothing running"
    assert command_line.run("up").returncode == 0
    assert command_line.run("status").returncode == 0


def test_when_the_api_server_is_restarted_then_it_goes_on_with_what_it_had(command_line: CommandLine) -> None:
    command_line.run("up")
    cluster = command_line.cluster()
    before = command_line.folder.processes()
    cluster.http.create("/api/v1/namespaces", {"metadata": {"name": "kept"}})
    cluster.restart_apiserver()
    after = command_line.folder.processes()
    assert [name for name in before if before[name] != after[name]] == ["kube-apiserver"]
    assert cluster.http.get("/api/v1/namespaces/kept")["metadata"]["name"] == "kept"


def _check_pods(cluster: NodeCluster, count: int) -> None:
    began_at = time.monotonic()
    for path, manifest in workload():
        cluster.http.create(path, manifest)
    eventually(lambda: _has_ready_pods(cluster), "pods")
    print(f"two pods with claims took {time.monotonic() - began_at:.1f} s")
    pods = cluster.http.get("/api/v1/namespaces/default/pods")["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == count
    service = cluster.http.get("/api/v1/namespaces/default/services/web")["spec"]["clusterIP"]
    # From the host: each pod, each node and the service.
    for pod in pods:
        assert _fetch(pod["status"]["podIP"], PORT) == pod["metadata"]["name"]
    for node in cluster.nodes:
        _reaches_both(str(cluster.record.addresses.node(node.number)), NODE_PORT)
    _reaches_both(service, PORT)
    # From a pod, by name: another pod, the service, itself by way of the service.
    for name in ("web-1.web-hl", "web.default.svc.cluster.local"):
        seen = {
            kubectl(cluster, "exec", "web-0", "--", "wget", "-qO-", f"http://{name}:{PORT}/").strip()
            for _ in range(1 if "web-hl" in name else 8)
        }
        assert seen == ({"web-1"} if "web-hl" in name else {"web-0", "web-1"})
    # By way of the API server.
    proxied = cluster.http.text("GET", f"/api/v1/namespaces/default/pods/web-1:{PORT}/proxy/index.html")
    assert proxied == (200, "web-1\n")


def _reaches_both(address: str, port: int) -> None:
    """Not at once: kube-proxy gathers changes for a second, and refuses connections meanwhile."""

    def is_there() -> bool:
        with suppress(OSError):
            return {_fetch(address, port) for _ in range(20)} == {"web-0", "web-1"}
        return False

    eventually(is_there, f"way to both pods at {address}")


def _has_ready_pods(cluster: NodeCluster) -> bool:
    status = cluster.http.get("/apis/apps/v1/namespaces/default/statefulsets/web").get("status", {})
    return bool(status.get("readyReplicas") == 2)


def _fetch(address: str, port: int) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}:{port}/", timeout=10) as response:
        body: bytes = response.read()
    return body.decode().strip()


def eventually(look: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not look():
        assert time.monotonic() < deadline, f"no {what} within {_SECONDS} s"
        time.sleep(0.05)
