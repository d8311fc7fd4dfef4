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
    pair = access.pair
    proof = {"client-certificate-data": _inline(pair.certificate), "client-key-data": _inline(pair.key)}
    return _write(path, _cluster(access.server, access.authority), (user, proof), access.cluster_name)


def write_token_kubeconfig(path: Path, server: str, authority: Path, token: str) -> Path:
    """For whoever reaches the server through somebody who ends TLS: a certificate would not get through."""
    return _write(path, _cluster(server, authority), ("account", {"token": token}), "firebolt-local")


def _cluster(server: str, authority: Path) -> dict[str, str]:
    return {"server": server, "certificate-authority-data": _inline(authority)}


def _write(path: Path, cluster: dict[str, str], user: tuple[str, dict[str, str]], name: str) -> Path:
    user_name, proof = user
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": user_name, "user": proof}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user_name}}],
        "current-context": name,
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=2) + "\n")
    return path


def _inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
