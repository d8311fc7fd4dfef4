"""How does one node come up: namespaces, containerd and its images, kubelet and kube-proxy?"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from firebolt_local.cluster import processes
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.pki import Subject
from firebolt_local.cluster.processes import Launch, ProcessRecord
from firebolt_local.errors import LocalError
from firebolt_local.node.addresses import Addresses
from firebolt_local.node.cgroups import ClusterGroup
from firebolt_local.node.containerd import (
    IMAGES_NAMESPACE,
    Runtime,
    containerd_config,
    containerd_environment,
    pod_network,
)
from firebolt_local.node.kubelet import (
    ENVIRONMENT,
    KubeletFacts,
    has_sys_resource,
    kubelet_config,
    kubelet_flags,
    proxy_flags,
)
from firebolt_local.node.namespaces import CONTAINERD_SOCKET, NEW_NAMESPACES, READY_FILE
from firebolt_local.node.packages import SYSTEM_PATH, find_cni_folder
from firebolt_local.progress import wait_until

_PAUSE = "namespaces"
_START_SECONDS = 30
_IMPORT_SECONDS = 600
_LOOK_AGAIN_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster, as far as its programs can tell."""

    number: int
    cluster_folder: Path
    pause_pid: int  # of the process that keeps its namespaces open

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def folder(self) -> Path:
        return node_folder(self.cluster_folder, self.number)

    @property
    def inside(self) -> tuple[str, ...]:
        """Put before a command: it then runs in this node's namespaces, with / as its folder."""
        return ("nsenter", "--target", str(self.pause_pid), "--net", "--mount", "--")

    @property
    def containerd_socket(self) -> Path:
        """As seen from the host."""
        return Path(f"/proc/{self.pause_pid}/root") / CONTAINERD_SOCKET.relative_to("/")


def node_folder(cluster_folder: Path, number: int) -> Path:
    return cluster_folder / f"node-{number}"


def program_name(program: str, number: int) -> str:
    """Of the first node they are called by their own names, as nobody wants to count to one."""
    return program if number == 1 else f"{program}-{number}"


def find_nodes(cluster_folder: Path, nodes: int) -> list[Node]:
    known = processes.read_records(cluster_folder)
    found = [known.get(program_name(_PAUSE, number)) for number in range(1, nodes + 1)]
    return [Node(number, cluster_folder, pause.pid) for number, pause in enumerate(found, 1) if pause]


def open_namespaces(cluster_folder: Path, number: int, group: ClusterGroup) -> Node:
    folder = node_folder(cluster_folder, number)
    folder.mkdir(parents=True, exist_ok=True)
    launch = Launch(
        name=program_name(_PAUSE, number),
        command=[sys.executable, "-m", "firebolt_local.node.namespaces", str(folder)],
        folder=cluster_folder,
        environment={"PATH": SYSTEM_PATH, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        prefix=(*group.joined(), *NEW_NAMESPACES),
    )
    record = processes.start(launch)
    _wait_for(folder / READY_FILE, record, launch.log)
    return Node(number, cluster_folder, record.pid)


@dataclass(frozen=True, slots=True)
class NodeStarter:
    """Starts the programs of nodes; they are recorded and stopped with the control plane."""

    plane: ControlPlane
    group: ClusterGroup
    addresses: Addresses
    programs: Mapping[str, Path]

    def start_containerd(self, node: Node) -> None:
        cni_programs = find_cni_folder()
        if cni_programs is None:
            raise LocalError("the CNI plugins are gone; install containernetworking-plugins")
        runtime = Runtime(
            data=node.folder / "containerd",
            cni_programs=cni_programs,
            cni_config=node.folder / "cni-config",
            can_lower_oom_score=has_sys_resource(),
        )
        runtime.cni_config.mkdir(parents=True, exist_ok=True)
        network = pod_network(self.addresses.pods_of(node.number))
        (runtime.cni_config / "pods.conflist").write_text(json.dumps(network, indent=2))
        config = node.folder / "containerd.toml"
        config.write_text(tomli_w.dumps(containerd_config(runtime)))
        environment = containerd_environment(self.programs["containerd-shim-runc-v2"])
        self._start(node, "containerd", [f"--config={config}"], environment)

    def start_kubelet(self, node: Node) -> None:
        address = str(self.addresses.node(node.number))
        facts = KubeletFacts(
            name=node.name,
            address=address,
            dns=str(self.addresses.dns_service),
            authority=self.plane.ca_file,
            serving=self.plane.issue(f"kubelet-{node.number}", Subject(node.name, hosts=(address, node.name))),
            cgroup_root=self.group.root_of(node.number),
            has_unified_cgroups=self.group.is_unified,
            can_lower_oom_score=has_sys_resource(),
        )
        config = node.folder / "kubelet.json"
        config.write_text(json.dumps(kubelet_config(facts), indent=2))
        kubeconfig = self.plane.kubeconfig_for(f"system:node:{node.name}", ("system:nodes",))
        self._start(node, "kubelet", kubelet_flags(facts, config, kubeconfig), ENVIRONMENT)

    def start_proxy(self, node: Node) -> None:
        kubeconfig = self.plane.kubeconfig_for("system:kube-proxy", ())
        self._start(node, "kube-proxy", proxy_flags(node.name, self.addresses.pods, kubeconfig), ENVIRONMENT)

    def _start(self, node: Node, program: str, flags: Sequence[str], environment: Mapping[str, str]) -> None:
        launch = Launch(
            name=program_name(program, node.number),
            command=[str(self.programs[program]), *flags],
            folder=node.cluster_folder,
            environment=environment,
            prefix=(*self.group.joined(), *node.inside),
        )
        self.plane.launch_with(launch)


def load_images(node: Node, ctr: Path, archives: Iterable[Path]) -> None:
    """To where containers are started from, without a registry."""
    wait_until(lambda: _has_containerd(node), f"containerd of {node.name}")
    for archive in archives:
        command = [str(ctr), f"--address={CONTAINERD_SOCKET}", f"--namespace={IMAGES_NAMESPACE}", "images", "import"]
        done = subprocess.run(
            [*node.inside, *command, str(archive.absolute())],
            capture_output=True,
            text=True,
            check=False,
            timeout=_IMPORT_SECONDS,
        )
        if done.returncode != 0:
            raise LocalError(f"{archive} could not be loaded into {node.name}: {done.stderr.strip()}")


def _has_containerd(node: Node) -> bool:
    if not Path(f"/proc/{node.pause_pid}").exists():
        raise LocalError(f"{node.name} has ended; start the cluster again")
    return node.containerd_socket.exists()


def _wait_for(file: Path, record: ProcessRecord, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not file.exists():
        if not record.is_alive() or time.monotonic() > deadline:
            reason = log.read_text(errors="replace").strip().rpartition("\n")[2]
            raise LocalError(f"the namespaces of a node could not be made, see {log}: {reason or 'no reason given'}")
        time.sleep(_LOOK_AGAIN_SECONDS)
