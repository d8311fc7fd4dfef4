"""How does a gateway pod leave without breaking a query? It first turns unready, then waits for what still runs."""

from importlib.resources import files
from typing import Final

from firebolt_operator.refs import Manifest

GRACE_PERIOD_SECONDS: Final = 15
AGENT_STAYS_SECONDS: Final = 12  # past the time in which new queries may still come: the agent must not go first
DRAIN_SCRIPT: Final = files("firebolt_operator.gateway").joinpath("drain.sh").read_text(encoding="utf-8")


def envoy_lifecycle() -> Manifest:
    return {"preStop": {"exec": {"command": ["bash", "-c", DRAIN_SCRIPT]}}}


def agent_lifecycle() -> Manifest:
    return {"preStop": {"sleep": {"seconds": AGENT_STAYS_SECONDS}}}
