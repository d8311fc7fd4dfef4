"""How little may a container of the gateway do? It runs as nobody, on a read-only disk, without capabilities."""

from typing import Final

from firebolt_operator.refs import Manifest

ENVOY_USER: Final = 101
AGENT_USER: Final = 65532


def hardened(user: int) -> Manifest:
    return {
        "runAsUser": user,
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
