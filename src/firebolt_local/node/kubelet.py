"""With which settings does the kubelet of a node run? Pure: facts in, configuration out."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.pki import KeyPair
from firebolt_local.node.namespaces import CONTAINERD_SOCKET
from firebolt_local.node.packages import SYSTEM_PATH
from firebolt_operator.refs import Manifest

# Otherwise it looks for credentials of clouds and registries there.
ENVIRONMENT: Mapping[str, str] = {"PATH": SYSTEM_PATH, "HOME": "/nonexistent"}
_MOST_PODS = 200


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
