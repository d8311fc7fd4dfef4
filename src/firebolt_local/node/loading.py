"""How do images get to where containers are started from, without a registry?"""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.node.containerd import IMAGES_NAMESPACE
from firebolt_local.node.namespaces import CONTAINERD_SOCKET
from firebolt_local.node.nodes import Node
from firebolt_local.node.waiting import wait_until

_IMPORT_SECONDS = 600


def load_images(node: Node, ctr: Path, archives: Iterable[Path]) -> None:
    wait_until(lambda: _has_containerd(node), f"containerd of {node.name}")
    for archive in archives:
        command = [str(ctr), f"--address={CONTAINERD_SOCKET}", f"--namespace={IMAGES_NAMESPACE}", "images", "import"]
        done = subprocess.run(
            [*node.inside, *command, str(archive.absolute())],
            capture_output=True,
            text=True,
            check=False,
            timeout=_IMPORT_SECONDS,
        )
        if done.returncode != 0:
            raise LocalError(f"{archive} could not be loaded into {node.name}: {done.stderr.strip()}")


def _has_containerd(node: Node) -> bool:
    if not Path(f"/proc/{node.holder}").exists():
        raise LocalError(f"{node.name} has ended; start the cluster again")
    return node.containerd_socket.exists()
