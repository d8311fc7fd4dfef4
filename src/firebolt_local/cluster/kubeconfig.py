"""Which file lets a client in as which user?"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.pki import KeyPair


@dataclass(frozen=True, slots=True)
class Access:
    """Everything a client needs to reach an API server as one user."""

    server: str
    authority: Path
    pair: KeyPair
    cluster_name: str = "firebolt-local"


def write_kubeconfig(path: Path, access: Access, user: str) -> Path:
    """Write a kubeconfig that carries its certificates inside, so that it can be copied anywhere (JSON is YAML)."""
    name = access.cluster_name
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": {"server": access.server, "certificate-authority-data": _inline(access.authority)},
            }
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": _inline(access.pair.certificate),
                    "client-key-data": _inline(access.pair.key),
                },
            }
        ],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
