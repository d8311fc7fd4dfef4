"""In which order do the parts of a cluster with nodes start, and when are they ready?"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.components import Options
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import KubeHttp, has_condition
from firebolt_local.images.system import build_system_images
from firebolt_local.locks import exclusive
from firebolt_local.node import dns, network, volumes
from firebolt_local.node.addresses import Addresses, choose_addresses
from firebolt_local.node.cgroups import ClusterGroup, machine_hierarchies
from firebolt_local.node.nodes import Node, NodeStarter, load_images, open_namespaces
from firebolt_local.node.records import NodesRecord, link_name, unique_name, write_record
from firebolt_local.node.teardown import end_nodes
from firebolt_local.programs import provision
from firebolt_local.progress import Progress

SYSTEM_DEPLOYMENTS = ((dns.NAMESPACE, dns.NAME), (volumes.NAMESPACE, volumes.NAME))
_API_PORT = 6443
# Two clusters that look for free addresses at once would find the same ones.
_ADDRESS_LOCK = Path("/run/firebolt-local-addresses.lock")


@dataclass(frozen=True, slots=True)
class Start:
    name: str
    folder: Path
    nodes: int


def start_cluster(start: Start, progress: Progress) -> ControlPlane:
    """Returns when nodes, DNS and volumes are ready; after a failure nothing runs, and the logs are still there."""
    found = provision.provide(provision.FOR_NODES)
    archives = build_system_images(provision.cache_folder() / "images", found)
    progress.note("programs and images are there")
    try:
        return _Assembly(start, found, archives, progress).run()
    except BaseException:
        end_nodes(start.folder)
        raise


def ready_nodes(http: KubeHttp) -> dict[str, bool]:
    return {node["metadata"]["name"]: has_condition(node, "Ready") for node in http.get("/api/v1/nodes")["items"]}


def ready_deployments(http: KubeHttp) -> dict[str, bool]:
    found = {
        name: http.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
        for namespace, name in SYSTEM_DEPLOYMENTS
    }
    return {name: bool(each.get("status", {}).get("readyReplicas")) for name, each in found.items()}


@dataclass(frozen=True, slots=True)
class _Assembly:
    start: Start
    programs: Mapping[str, Path]
    archives: Sequence[Path]
    progress: Progress

    def run(self) -> ControlPlane:
        group = ClusterGroup(unique_name(self.start.name, self.start.folder), machine_hierarchies())
        addresses, nodes = self._open_nodes(group)
        self.progress.note(f"namespaces and network are there, on {addresses.block}")
        plane = self._control_plane(group, addresses, nodes[0])
        starter = NodeStarter(plane, group, addresses, self.programs)
        for node in nodes:
            starter.start_containerd(node)
        with ThreadPoolExecutor() as beside:
            loads = [beside.submit(load_images, node, self.programs["ctr"], self.archives) for node in nodes]
            try:
                plane.start()
                self.progress.note(f"control plane is up: {plane.server}")
                self._start_nodes(starter, nodes, loads)
            except BaseException:
                # At once: whoever loads images would go on waiting for a containerd that does not come.
                end_nodes(self.start.folder)
                raise
        self._wait(plane)
        return plane

    def _open_nodes(self, group: ClusterGroup) -> tuple[Addresses, list[Node]]:
        folder, count = self.start.folder, self.start.nodes
        with exclusive(_ADDRESS_LOCK):
            addresses = choose_addresses(network.taken_networks())
            record = NodesRecord(
                cgroup=group.name,
                host_link=link_name(folder),
                nodes=count,
                block=str(addresses.block),
                programs={name: str(path) for name, path in self.programs.items()},
            )
            write_record(folder, record)
            group.create(count)
            nodes = [open_namespaces(folder, number, group) for number in range(1, count + 1)]
            network.connect_host(record.host_link, nodes[0].pause_pid, addresses)
        pause_pids = [node.pause_pid for node in nodes]
        for number in range(2, count + 1):
            network.connect_node(number, pause_pids, record.host_link, addresses)
        return addresses, nodes

    def _control_plane(self, group: ClusterGroup, addresses: Addresses, first: Node) -> ControlPlane:
        options = Options(
            folder=self.start.folder,
            bind_address=str(addresses.node(1)),
            port=_API_PORT,
            service_range=str(addresses.services),
            prefix=(*group.joined(), *first.inside),
            dies_with_parent=False,
        )
        return ControlPlane(options, self.programs)

    def _start_nodes(self, starter: NodeStarter, nodes: Sequence[Node], loads: Sequence[Future[None]]) -> None:
        for node in nodes:
            starter.start_proxy(node)
            starter.start_kubelet(node)
        for path, manifest in (*dns.dns_objects(str(starter.addresses.dns_service)), *volumes.volume_objects()):
            starter.plane.http.create(path, manifest)
        for load in loads:
            load.result()

    def _wait(self, plane: ControlPlane) -> None:
        def has_ready_nodes() -> bool:
            return list(ready_nodes(plane.http).values()) == [True] * self.start.nodes

        plane.wait_until(has_ready_nodes, "the nodes")
        self.progress.note("nodes are ready")
        plane.wait_until(lambda: all(ready_deployments(plane.http).values()), "DNS and volumes")
        self.progress.note("DNS and volumes are ready")
