"""How does a cluster go away with everything that it has on this machine, and what is in the way of a new one?"""

from pathlib import Path

from firebolt_local.cluster.folder import ClusterFolder, ClusterRecord
from firebolt_local.errors import LocalError
from firebolt_local.node.cgroups import ClusterGroup, machine_hierarchies
from firebolt_local.node.network import disconnect_host
from firebolt_local.node.records import read_record


def is_already_up(cluster: ClusterFolder, wanted: ClusterRecord) -> bool:
    """Removes what is left of one that was cut short; refuses what is something else."""
    if cluster.is_free():
        return False
    record = cluster.read()
    if record is None:
        raise LocalError(f"{cluster.path} holds something else than a cluster; choose an empty folder")
    if not record.is_complete or not cluster.is_running():
        print(f"{wanted.name} was cut short; cleaning up and starting anew", flush=True)
        remove_cluster(cluster)
        return False
    if not record.is_same_kind(wanted):
        raise LocalError(f"{wanted.name} is up as something else ({record.describe()}); run firebolt-local down first")
    return True


def remove_cluster(cluster: ClusterFolder) -> None:
    """Nodes first: their containers would outlive the programs that started them."""
    end_nodes(cluster.path)
    cluster.remove()


def end_nodes(folder: Path) -> None:
    """By its own record, as often as it takes; a folder without one had no nodes.

    With the last process its namespaces are gone, and with those every mount, address and rule in them.
    """
    record = read_record(folder)
    if record is None:
        return
    group = ClusterGroup(record.cgroup, machine_hierarchies())
    group.end_all()
    disconnect_host(record.host_link)
    group.remove()
