"""What could a cluster with nodes leave behind on this machine, and what runs on it in tests?"""

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster import processes
from firebolt_local.cluster.processes import ProcessRecord
from firebolt_local.images.system import HELPER
from firebolt_local.node.cluster import NodeCluster
from firebolt_local.node.records import link_name, unique_name
from firebolt_operator.refs import Manifest

_KERNEL_SETTINGS = ("kernel.panic", "kernel.panic_on_oops", "vm.overcommit_memory", "net.ipv4.ip_forward")
_FIXED_PLACES = (
    "/etc/cni",
    "/etc/containerd",
    "/opt/containerd",
    "/run/containerd",
    "/usr/libexec/kubernetes",
    "/var/lib/cni",
    "/var/lib/firebolt-local-volumes",
    "/var/lib/kubelet",
    "/var/log/containers",
    "/var/log/pods",
)
PORT = 8080
NODE_PORT = 30080
_LABELS = {"app": "web"}


@dataclass(frozen=True)
class Traces:
    """What a cluster in one folder has, or changes, outside of it."""

    groups: list[str]
    links: list[str]
    mounts: list[str]
    kernel_settings: dict[str, str]
    routes: list[str]
    places: list[str]


def traces(folder: Path) -> Traces:
    link = link_name(folder)
    return Traces(
        groups=sorted(str(path) for path in Path("/sys/fs/cgroup").rglob(unique_name(folder.name, folder))),
        links=[path.name for path in Path("/sys/class/net").iterdir() if path.name == link],
        mounts=Path("/proc/self/mounts").read_text().splitlines(),
        kernel_settings={
            setting: Path("/proc/sys", setting.replace(".", "/")).read_text() for setting in _KERNEL_SETTINGS
        },
        routes=[line for line in output("ip", "-4", "route").splitlines() if link in line],
        places=[place for place in _FIXED_PLACES if Path(place).exists()],
    )


def namespaces_of(pid: int) -> set[str]:
    return {str(Path(f"/proc/{pid}/ns/{kind}").readlink()) for kind in ("net", "mnt")}


def processes_in(namespaces: set[str]) -> list[ProcessRecord]:
    """Programs that run in any of these namespaces: with the last of them the namespaces end."""
    found: dict[int, ProcessRecord] = {}
    for path in Path("/proc").glob("[0-9]*/ns/*"):
        pid = int(path.parent.parent.name)
        with suppress(OSError):  # it ended, or is a zombie that nobody has collected yet
            if str(path.readlink()) in namespaces and (record := processes.record_of(pid)):
                found[pid] = record
    return list(found.values())


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def kubectl(cluster: NodeCluster, *words: str) -> str:
    return output(cluster.record.programs["kubectl"], f"--kubeconfig={cluster.kubeconfig}", *words)


def workload() -> list[tuple[str, Manifest]]:
    """Two web servers that say their names, each with a volume; a service for both; collection paths first."""
    return [
        ("/api/v1/namespaces/default/services", _service("web-hl", {"clusterIP": "None"})),
        ("/api/v1/namespaces/default/services", _service("web", {"type": "NodePort"}, nodePort=NODE_PORT)),
        ("/apis/apps/v1/namespaces/default/statefulsets", _statefulset()),
    ]


def _service(name: str, more: Manifest, **port: int) -> Manifest:
    spec = {"selector": _LABELS, "ports": [{"port": PORT, **port}], **more}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def _statefulset() -> Manifest:
    container = {
        "name": "web",
        "image": HELPER,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", f"echo $HOSTNAME >/data/index.html; exec busybox httpd -f -p {PORT} -h /data"],
        "readinessProbe": {"httpGet": {"path": "/index.html", "port": PORT}, "periodSeconds": 1},
        "resources": {"limits": {"memory": "32Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
    }
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": _LABELS},
    }
    pod = {
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
        "topologySpreadConstraints": [spread],
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web"},
        "spec": {
            "serviceName": "web-hl",
            "replicas": 2,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": pod},
            "volumeClaimTemplates": [claim],
        },
    }
