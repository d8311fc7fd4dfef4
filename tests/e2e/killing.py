"""How does a container die the hard way? By SIGKILL to its process, seen from the machine that it runs on."""

import subprocess

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import ProcessRecord
from firebolt_local.node.cluster import NodeCluster
from firebolt_local.node.commands import shell_command
from firebolt_operator.refs import Manifest

_SECONDS = 30


def process_of(cluster: NodeCluster, pod: Manifest, container: str) -> ProcessRecord:
    """Looked up beforehand, so that the blow falls at the very moment that a test has chosen."""
    statuses: list[Manifest] = pod["status"].get("containerStatuses", []) + pod["status"].get(
        "initContainerStatuses", []
    )
    (wanted,) = (each["containerID"].rpartition("/")[2] for each in statuses if each["name"] == container)
    command = shell_command(cluster, 1, ["ctr", "tasks", "list"])
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS).stdout
    (pid,) = (int(line.split()[1]) for line in listed.splitlines() if line.startswith(wanted))
    record = processes.record_of(pid)
    assert record is not None, f"{pod['metadata']['name']} has ended by itself"
    return record


def kill(record: ProcessRecord) -> None:
    assert processes.kill([record]) == []
