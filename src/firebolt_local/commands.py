"""What does each command of `firebolt-local` do?"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import msgspec

from firebolt_local.cluster.components import Options
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.existing import check_existing, read_existing, user_kubeconfig
from firebolt_local.cluster.folder import (
    DEFAULT_NAME,
    ClusterFolder,
    ClusterRecord,
    Kind,
    cluster_folder,
    known_clusters,
)
from firebolt_local.cluster.processes import LOGS
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.errors import LocalError
from firebolt_local.node.cluster import require_root
from firebolt_local.node.commands import print_readiness
from firebolt_local.node.teardown import is_already_up, remove_cluster
from firebolt_local.programs import provision


@dataclass(frozen=True, slots=True, kw_only=True)
class UpRequest:
    name: str
    folder: Path | None
    kind: Kind
    simulated_pods: bool
    port: int | None


def up(request: UpRequest) -> None:
    cluster = cluster_folder(request.name, request.folder)
    with cluster.locked():
        draft = ClusterRecord(name=request.name, kind=request.kind, simulated_pods=request.simulated_pods)
        if is_already_up(cluster, draft):
            _print_already_up(cluster, request.name)
            return
        # Before anything runs: whatever happens from here on, the next command finds what belongs to this cluster.
        cluster.write(draft)
        if request.kind is Kind.EXISTING:
            existing = read_existing(user_kubeconfig())
            check_existing(existing)
            server, kubeconfig = existing.server, existing.kubeconfig
        else:
            plane = _start_control_plane(cluster, request)
            server, kubeconfig = plane.server, plane.kubeconfig
        done = msgspec.structs.replace(draft, server=server, kubeconfig=str(kubeconfig), is_complete=True)
        cluster.write(done)
    print(f"{request.name} is up: {server}\nexport KUBECONFIG={kubeconfig}")


def down(name: str, folder: Path | None) -> None:
    cluster = cluster_folder(name, folder)
    if _existing_record(cluster, name).kind is Kind.NODES:
        require_root("the cluster has nodes")
    with cluster.locked():
        if cluster.read() is not None:
            remove_cluster(cluster)
    print(f"{name} is down")


def status(name: str | None, folder: Path | None) -> bool:
    """Print how each cluster is; answers whether all are well."""
    names = known_clusters() if name is None and folder is None else [name or DEFAULT_NAME]
    if not names:
        print("no cluster is up")
    wells = [_print_status(each, folder) for each in names]
    return all(wells)


def kubeconfig(name: str, folder: Path | None) -> None:
    cluster = cluster_folder(name, folder)
    record = _existing_record(cluster, name)
    if not record.is_complete:
        raise LocalError(f"{name} was not started completely; run firebolt-local up")
    print(record.kubeconfig)


def logs(name: str, folder: Path | None, program: str | None, *, follow: bool) -> None:
    cluster = cluster_folder(name, folder)
    _existing_record(cluster, name)
    files = sorted((cluster.path / LOGS).glob(f"{program or '*'}.log"))
    if not files:
        raise LocalError(f"{name} has no log of {program or 'anything'}; firebolt-local status names its programs")
    tail = shutil.which("tail") or "tail"
    os.execv(tail, ["tail", "-n", "+1" if program else "20", *(["-F"] if follow else []), *map(str, files)])


def _start_control_plane(cluster: ClusterFolder, request: UpRequest) -> ControlPlane:
    wanted = provision.CONTROL_PLANE + (provision.SIMULATED_PODS if request.simulated_pods else ())
    found = provision.provide(wanted)
    options = Options(
        folder=cluster.path,
        simulated_pods=request.simulated_pods,
        port=request.port,
        dies_with_parent=False,
    )
    plane = ControlPlane(options, found).start()
    if request.simulated_pods:
        try:
            SimulatedPods(plane, found).start()
        except BaseException:
            plane.stop()
            raise
    return plane


def _print_already_up(cluster: ClusterFolder, name: str) -> None:
    record = _existing_record(cluster, name)
    print(f"{name} is already up: {record.server}\nexport KUBECONFIG={record.kubeconfig}")


def _existing_record(cluster: ClusterFolder, name: str) -> ClusterRecord:
    record = cluster.read()
    if record is not None:
        return record
    known = known_clusters()
    hint = f"there are: {', '.join(known)}" if known else "start one with firebolt-local up"
    raise LocalError(f"there is no cluster named {name} in {cluster.path.parent}; {hint}")


def _print_status(name: str, folder: Path | None) -> bool:
    cluster = cluster_folder(name, folder)
    record = _existing_record(cluster, name)
    if record.kind is Kind.EXISTING:
        check_existing(read_existing(Path(record.kubeconfig)))
    found = cluster.processes()
    dead = [program for program, process in found.items() if not process.is_alive()]
    is_well = record.is_complete and not dead
    print(f"{record.name}: {'up' if is_well else 'broken'}, {record.describe()}, {record.server or 'no server'}")
    for program, process in found.items():
        print(f"  {program}: {'ended' if program in dead else 'running'}, pid {process.pid}")
    if is_well and record.kind is Kind.NODES:
        return print_readiness(record.name, cluster)
    if not is_well:
        print("  firebolt-local up starts it anew, firebolt-local down removes it")
    return is_well
