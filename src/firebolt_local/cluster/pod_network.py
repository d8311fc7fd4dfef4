"""How does a program reach simulated pods by their own addresses, not through the API server?

In a network namespace where the whole pod range is local. The relay that answers there holds the namespace: no name, no
mount, nothing to remove; it is gone with the relay, however that ends. Needs root.
"""

import os
import sys
from dataclasses import dataclass

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.errors import LocalError

RELAY = "pod-network"
READY_FILE = "pod-network.ready"


@dataclass(frozen=True, slots=True)
class PodNetwork:
    relay_pid: int

    @property
    def prefix(self) -> tuple[str, ...]:
        """Put before a command: it then runs where pods have addresses; kubeconfigs work there as they do outside."""
        return ("nsenter", f"--net=/proc/{self.relay_pid}/ns/net", "--")


def open_pod_network(plane: ControlPlane, pod_range: str) -> PodNetwork:
    if os.geteuid() != 0:
        raise LocalError("a pod network is a network namespace, which needs root; run it with sudo")
    (plane.folder / READY_FILE).unlink(missing_ok=True)
    command = [sys.executable, "-m", "firebolt_local.cluster.pod_network_relay", pod_range, str(plane.port)]
    record = plane.launch(RELAY, command)
    plane.wait_until((plane.folder / READY_FILE).exists, "the pod network")
    return PodNetwork(record.pid)
