"""How does everything go that a cluster with nodes has on this machine, apart from its folder?"""

from pathlib import Path

from firebolt_local.node.cgroups import ClusterGroup, machine_hierarchies
from firebolt_local.node.network import disconnect_host
from firebolt_local.node.records import read_record


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
