"""How does a gateway pod leave without breaking a query? It first turns unready, then waits for what still runs.

Envoy's hook waits; Kubernetes tells Envoy to stop when it returns. The agent has no hook: it is told at once, goes on
answering, and leaves when Envoy is gone.
"""

from importlib.resources import files
from typing import Final

from firebolt_operator.refs import Manifest

DRAIN_SCRIPT: Final = files("firebolt_operator.gateway").joinpath("drain.sh").read_text(encoding="utf-8")


def envoy_lifecycle(grace_seconds: int) -> Manifest:
    script = f"GRACE_SECONDS={grace_seconds}\n{DRAIN_SCRIPT}"
    return {"preStop": {"exec": {"command": ["bash", "-c", script]}}}
