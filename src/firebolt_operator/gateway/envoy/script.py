"""What does Envoy run on every query? The two Lua files beside this module, with a constant put before each."""

import json
from datetime import timedelta
from importlib.resources import files
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.inputs import GatewayInputs

LATER_THAN_THE_AGENT: Final = timedelta(seconds=5)
"""The agent itself gives up before Envoy does, and says so."""

SELECTOR: Final = files("firebolt_operator.gateway.envoy").joinpath("selector.lua").read_text(encoding="utf-8")
WAKE_HOLD: Final = files("firebolt_operator.gateway.envoy").joinpath("wake_hold.lua").read_text(encoding="utf-8")


def lua_source(inputs: GatewayInputs) -> str:
    """Engine selection, then the hold where a wake agent runs."""
    constant = f"local AUTHORITY_SUFFIX = {json.dumps(authority_suffix(inputs))}\n"
    return "\n".join([constant, SELECTOR, *(_hold(inputs) if inputs.wakes_engines else ())])


def _hold(inputs: GatewayInputs) -> tuple[str, str]:
    limit = inputs.times.hold + LATER_THAN_THE_AGENT
    return f"local HOLD_TIMEOUT_MS = {limit // timedelta(milliseconds=1)}\n", WAKE_HOLD


def authority_suffix(inputs: GatewayInputs) -> str:
    """What follows an engine's name in the address of its Service: all that a query can ever be sent to."""
    service = names.engine_service_name("")
    return f"{service}.{inputs.namespace}.svc.cluster.local:{names.PORT_QUERY}"
