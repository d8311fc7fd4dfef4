"""How does a cluster with real containers come up, and what can be done with it?"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from firebolt_local.cluster import processes
from firebolt_local.cluster.components import APISERVER
from firebolt_local.cluster.folder import ClusterFolder, ClusterRecord, Kind, cluster_folder
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.cluster.pki import KeyPair
from firebolt_local.errors import LocalError
from firebolt_local.node.nodes import Node, find_nodes, load_images
from firebolt_local.node.packages import provide_packages
from firebolt_local.node.records import NodesRecord, read_record
from firebolt_local.node.start import Start, start_cluster
from firebolt_local.node.teardown import is_already_up, remove_cluster
from firebolt_local.progress import Progress, wait_until


@dataclass(frozen=True, slots=True)
class NodeCluster:
    """A cluster that is up, whoever started it."""

    name: str
    folder: ClusterFolder
    kubeconfig: Path
    server: str
    record: NodesRecord

    @property
    def nodes(self) -> list[Node]:
        return find_nodes(self.folder.path, self.record.nodes)

    @property
    def http(self) -> KubeHttp:
        """As administrator."""
        keys = self.folder.path / "pki"
        return KubeHttp.with_certificate(self.server, keys / "ca.crt", KeyPair(keys / "admin.crt", keys / "admin.key"))

    def load_images(self, archives: Iterable[Path]) -> None:
        """OCI archives, to every node; pods then find their images with the pull policy IfNotPresent or Never."""
        found = list(archives)
        for node in self.nodes:
            load_images(node, Path(self.record.programs["ctr"]), found)

    def restart_apiserver(self) -> None:
        """SIGKILL, then again on the same data: requests in flight get no answer. Returns when it is ready."""
        processes.start_again(self.folder.path, APISERVER)
        wait_until(self.http.is_ready, "the API server")

    def down(self) -> None:
        """Leaves nothing behind."""
        with self.folder.locked():
            if self.folder.read() is not None:
                remove_cluster(self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesRequest:
    name: str
    folder: Path | None = None
    nodes: int = 1
    assume_yes: bool = False  # install missing system packages without asking


def _say(text: str) -> None:
    print(text, flush=True)


def up(request: NodesRequest, say: Callable[[str], None] = _say) -> NodeCluster:
    """Start it, or find that it is up; after a crash it cleans up first."""
    require_root("a cluster with nodes runs containers")
    provide_packages(assume_yes=request.assume_yes, say=say)
    cluster = cluster_folder(request.name, request.folder)
    with cluster.locked():
        draft = ClusterRecord(name=request.name, kind=Kind.NODES, nodes=request.nodes)
        if not is_already_up(cluster, draft):
            # Before anything runs: whatever happens from here on, the next command finds what is this cluster's.
            cluster.write(draft)
            plane = start_cluster(Start(request.name, cluster.path, request.nodes), Progress(say))
            done = msgspec.structs.replace(
                draft, server=plane.server, kubeconfig=str(plane.kubeconfig), is_complete=True
            )
            cluster.write(done)
    return find(request.name, request.folder)


def find(name: str, folder: Path | None = None) -> NodeCluster:
    cluster = cluster_folder(name, folder)
    known, record = cluster.read(), read_record(cluster.path)
    if known is None or record is None or not known.is_complete:
        raise LocalError(f"there is no cluster with nodes named {name}; start it with firebolt-local up --name {name}")
    return NodeCluster(name, cluster, Path(known.kubeconfig), known.server, record)


def require_root(what: str) -> None:
    if os.geteuid() != 0:
        raise LocalError(
            f"{what}, which needs root: run it with sudo; "
            "or run firebolt-local up --control-plane, which needs no root and runs no containers"
        )
