"""With which settings does containerd run containers, and how do those get an address?"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from firebolt_local.images.system import PAUSE
from firebolt_local.node.namespaces import CONTAINERD_SOCKET
from firebolt_local.node.packages import SYSTEM_PATH
from firebolt_operator.refs import Manifest

IMAGES_NAMESPACE = "k8s.io"
# They would make folders below /opt and /etc, which are not ours, or need a file system that we do not have.
_UNUSED_PLUGINS = (
    "io.containerd.internal.v1.opt",
    "io.containerd.nri.v1.nri",
    "io.containerd.snapshotter.v1.blockfile",
    "io.containerd.snapshotter.v1.erofs",
    "io.containerd.differ.v1.erofs",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What is particular to one node."""

    data: Path
    cni_programs: Path
    cni_config: Path
    can_lower_oom_score: bool  # False on machines that withhold CAP_SYS_RESOURCE


def containerd_config(runtime: Runtime) -> Manifest:
    runc: Manifest = {
        "runtime_type": "io.containerd.runc.v2",
        # No systemd manages the groups of pods: the kubelet makes them itself, with version 1 and 2 alike.
        "options": {"SystemdCgroup": False},
    }
    return {
        "version": 3,
        "root": str(runtime.data),
        "state": str(CONTAINERD_SOCKET.parent),
        "disabled_plugins": list(_UNUSED_PLUGINS),
        "grpc": {"address": str(CONTAINERD_SOCKET)},
        "plugins": {
            "io.containerd.cri.v1.images": {"pinned_images": {"sandbox": PAUSE}},
            "io.containerd.cri.v1.runtime": {
                "restrict_oom_score_adj": not runtime.can_lower_oom_score,
                # It would load a profile into the kernel of the machine, and leave it there.
                "disable_apparmor": True,
                "containerd": {"default_runtime_name": "runc", "runtimes": {"runc": runc}},
                "cni": {"bin_dirs": [str(runtime.cni_programs)], "conf_dir": str(runtime.cni_config)},
            },
        },
    }


def containerd_environment(shim: Path) -> Mapping[str, str]:
    """It looks for the shim and for runc on its PATH."""
    return {"PATH": f"{shim.parent}:{SYSTEM_PATH}"}


def pod_network(pods: IPv4Network) -> Manifest:
    """The CNI configuration of one node: a bridge that its pods hang on, and addresses from its own range."""
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": str(pods)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [bridge, {"type": "portmap", "capabilities": {"portMappings": True}}],
    }
