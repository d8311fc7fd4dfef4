"""Is a cluster there already, as it is wanted, and how does one go away?"""

from firebolt_local.cluster.folder import ClusterFolder, ClusterRecord, Kind
from firebolt_local.errors import LocalError
from firebolt_local.node.teardown import end_nodes


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
    if _kind(record) != _kind(wanted):
        raise LocalError(f"{wanted.name} is up as something else ({describe(record)}); run firebolt-local down first")
    return True


def remove_cluster(cluster: ClusterFolder) -> None:
    """Nodes first: their containers would outlive the programs that started them."""
    end_nodes(cluster.path)
    cluster.remove()


def describe(record: ClusterRecord) -> str:
    if record.kind is Kind.NODES:
        return f"{record.nodes} {'node' if record.nodes == 1 else 'nodes'}"
    return f"{record.kind}{' with simulated pods' if record.simulated_pods else ''}"


def _kind(record: ClusterRecord) -> tuple[Kind, bool, int]:
    return record.kind, record.simulated_pods, record.nodes
