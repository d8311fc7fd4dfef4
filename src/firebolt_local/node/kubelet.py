"""With which settings do the kubelet and kube-proxy of a node run, and what does this machine let them do?"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from firebolt_local.cluster.pki import KeyPair
from firebolt_local.node.namespaces import CONTAINERD_SOCKET
from firebolt_local.node.packages import SYSTEM_PATH
from firebolt_operator.refs import Manifest

# Otherwise it looks for credentials of clouds and registries there.
ENVIRONMENT: Mapping[str, str] = {"PATH": SYSTEM_PATH, "HOME": "/nonexistent"}
_MOST_PODS = 200
_SYS_RESOURCE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletFacts:
    name: str
    address: str
    dns: str
    authority: Path
    serving: KeyPair
    cgroup_root: str
    has_unified_cgroups: bool
    can_lower_oom_score: bool


def kubelet_config(facts: KubeletFacts) -> Manifest:
    config: Manifest = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": facts.address,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(facts.authority)},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(facts.serving.certificate),
        "tlsPrivateKeyFile": str(facts.serving.key),
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": facts.cgroup_root,
        "clusterDomain": "cluster.local",
        "clusterDNS": [facts.dns],
        # Nothing outside the cluster can be reached, so nothing outside can be asked for names.
        "resolvConf": "",
        "failSwapOn": False,
        "maxPods": _MOST_PODS,
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
        # Images come from files, not from a registry: one that was removed to save space would not come back.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    }
    without_unified = {} if facts.has_unified_cgroups else {"failCgroupV1": False}
    without_capability = {} if facts.can_lower_oom_score else {"oomScoreAdj": 0}
    return config | without_unified | without_capability


def kubelet_flags(facts: KubeletFacts, config: Path, kubeconfig: Path) -> list[str]:
    return [
        f"--config={config}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={facts.name}",
        f"--node-ip={facts.address}",
    ]


def proxy_flags(node: str, pods: IPv4Network, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node}",
        "--proxy-mode=nftables",
        # Callers from elsewhere, the host for one, get the node's address: answers come back the way they went.
        f"--cluster-cidr={pods}",
        # These would change the connection tracking of the whole machine.
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
    ]


def has_sys_resource(status: str | None = None) -> bool:
    """Some machines withhold it from root; then nothing may be shielded from the kernel when memory runs out."""
    lines = (status or Path("/proc/self/status").read_text()).splitlines()
    effective = next(line.split()[1] for line in lines if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> _SYS_RESOURCE & 1)
