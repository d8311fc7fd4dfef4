"""Who plays the kubelet when there is no node? kwok does, told by the stages beside this module.

Real controllers and the real scheduler do the rest. docs/dev/simulated-pods.md lists the annotations that steer a pod.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import has_condition
from firebolt_local.cluster.pod_network import PodNetwork, open_pod_network
from firebolt_local.cluster.scrape import SOCKET, ScrapeControl
from firebolt_local.packaged import packaged
from firebolt_operator.refs import Manifest

KWOK = "kwok"
SCRAPE_SERVER = "scrape-server"
NODE = "simulated"
POD_RANGE = "10.200.0.0/14"
_NODE_ADDRESS = "10.199.0.1"
# Not the pods' range: kwok returns addresses to the node's range only, so that no address is used twice.
_NODE_RANGE = "10.199.0.0/24"
_LEASE_SECONDS = 40
_VOLUMES = 20
_STAGES = packaged("firebolt_local.cluster", "stages")


class SimulatedPods:
    """Pods that run without a node, in one control plane; stopped together with it."""

    def __init__(self, control_plane: ControlPlane, programs: Mapping[str, Path]) -> None:
        self.control_plane = control_plane
        self.scrape = ScrapeControl(control_plane.folder, control_plane.http)
        self._kwok = programs[KWOK]

    def start(self) -> "SimulatedPods":
        plane = self.control_plane
        kubeconfig = plane.kubeconfig_for(KWOK)
        plane.launch(
            KWOK,
            [
                str(self._kwok),
                *(f"--config={stage}" for stage in sorted(_STAGES.glob("*.yaml"))),
                f"--kubeconfig={kubeconfig}",
                "--manage-all-nodes",
                f"--cidr={POD_RANGE}",
                f"--node-ip={_NODE_ADDRESS}",
                # Without leases the node turns NotReady after 40 s, and every pod with it.
                f"--node-lease-duration-seconds={_LEASE_SECONDS}",
                "--v=WARN",
            ],
        )
        plane.launch(SCRAPE_SERVER, [sys.executable, "-m", "firebolt_local.cluster.scrape_server", SOCKET])
        plane.http.create("/api/v1/nodes", _node())
        self.add_volumes(_VOLUMES)
        plane.wait_until(self.scrape.is_up, "the scrape server")
        plane.wait_until(self._is_node_ready, "the simulated node")
        return self

    def open_network(self) -> PodNetwork:
        """Let programs reach pods by address, from a network namespace; needs root."""
        return open_pod_network(self.control_plane, POD_RANGE)

    def add_volumes(self, count: int) -> None:
        """Volumes without a class for claims without one; a volume whose claim is gone serves the next."""
        for _ in range(count):
            self.control_plane.http.create("/api/v1/persistentvolumes", _volume())

    def _is_node_ready(self) -> bool:
        node = self.control_plane.http.get(f"/api/v1/nodes/{NODE}")
        is_tainted = bool(node["spec"].get("taints"))
        return not is_tainted and has_condition(node, "Ready")


def _node() -> Manifest:
    room = {"cpu": "100k", "memory": "1Pi", "pods": "1M", "ephemeral-storage": "1Pi"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"}},
        "spec": {"podCIDR": _NODE_RANGE, "podCIDRs": [_NODE_RANGE]},
        "status": {
            "allocatable": room,
            "capacity": room,
            "addresses": [{"type": "InternalIP", "address": _NODE_ADDRESS}],
        },
    }


def _volume() -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"generateName": "simulated-"},
        "spec": {
            "capacity": {"storage": "1Ti"},
            "accessModes": ["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            # Never opened: no kubelet mounts it.
            "hostPath": {"path": "/nonexistent"},
        },
    }
