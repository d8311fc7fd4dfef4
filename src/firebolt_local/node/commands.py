"""What does each command of `firebolt-local` do that only concerns clusters with nodes?"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from firebolt_local.cluster.folder import ClusterFolder
from firebolt_local.errors import LocalError
from firebolt_local.node.cgroups import ClusterGroup, machine_hierarchies
from firebolt_local.node.cluster import NodeCluster, NodesRequest, find, require_root, up
from firebolt_local.node.containerd import IMAGES_NAMESPACE
from firebolt_local.node.namespaces import CONTAINERD_SOCKET
from firebolt_local.node.packages import SYSTEM_PATH
from firebolt_local.node.start import ready_deployments, ready_nodes


def up_nodes(request: NodesRequest) -> None:
    cluster = up(request)
    print(f"{request.name} is up: {cluster.server}\nexport KUBECONFIG={cluster.kubeconfig}")


def load_image(name: str, folder: Path | None, archives: Sequence[Path]) -> None:
    require_root("images are loaded in the namespaces of nodes")
    missing = [str(archive) for archive in archives if not archive.is_file()]
    if missing:
        raise LocalError(f"there is no {', '.join(missing)}; an image is an OCI archive, a single file")
    cluster = find(name, folder)
    for archive in archives:
        cluster.load_images([archive])
        print(f"loaded {archive}", flush=True)


def shell(name: str, folder: Path | None, number: int, command: Sequence[str]) -> None:
    """Become a shell, or one command, inside a node; it ends with the cluster."""
    require_root("a shell in the namespaces of a node")
    cluster = find(name, folder)
    if number not in range(1, len(cluster.nodes) + 1):
        raise LocalError(f"{name} has no node {number}; it has {len(cluster.nodes)}")
    words = shell_command(cluster, number, command or [os.environ.get("SHELL") or "/bin/sh"])
    os.execv(words[0], words)


def shell_command(cluster: NodeCluster, number: int, command: Sequence[str]) -> list[str]:
    group = ClusterGroup(cluster.record.cgroup, machine_hierarchies())
    tools = dict.fromkeys(str(Path(path).parent) for path in cluster.record.programs.values())
    environment = {
        "KUBECONFIG": str(cluster.kubeconfig),
        "PATH": ":".join((*tools, SYSTEM_PATH)),
        "CONTAINERD_ADDRESS": str(CONTAINERD_SOCKET),
        "CONTAINERD_NAMESPACE": IMAGES_NAMESPACE,
    }
    settings = [f"{key}={value}" for key, value in environment.items()]
    enter = cluster.nodes[number - 1].inside
    return [*group.joined(), *enter, shutil.which("env") or "env", f"--chdir={Path.cwd()}", *settings, *command]


def print_readiness(name: str, folder: ClusterFolder) -> bool:
    """Answers whether everything is ready."""
    http = find(name, folder.path).http
    try:
        found = ready_nodes(http) | ready_deployments(http)
    except OSError as err:
        print(f"  the API server does not answer: {err}")
        return False
    for each, is_ready in found.items():
        print(f"  {each}: {'ready' if is_ready else 'not ready'}")
    return all(found.values())
