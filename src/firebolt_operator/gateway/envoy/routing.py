"""Where does a query go, and when is it sent a second time?"""

from typing import Final

from firebolt_operator.gateway.envoy.clusters import ENGINES
from firebolt_operator.gateway.envoy.extensions import extension
from firebolt_operator.gateway.envoy.script import authority_suffix
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest

DRAINED_HEADER: Final = "X-Firebolt-Drained"

# Only what surely did not run is sent again. Any other failure may have changed data already, so `5xx`,
# `gateway-error` and `reset` must never be listed.
RETRY_ON: Final = ("connect-failure", "refused-stream", "reset-before-request", "retriable-headers")


def query_routes(inputs: GatewayInputs) -> Manifest:
    return {
        "name": "local_route",
        "virtual_hosts": [
            {
                "name": "default",
                # The script's rewrite is matched, not the sender's host: should the script ever fail, a query finds no
                # route instead of a host of the sender's choice.
                "domains": [f"*{authority_suffix(inputs)}"],
                "routes": [{"match": {"prefix": "/"}, "route": _query_route()}],
            }
        ],
    }


def _query_route() -> Manifest:
    # No timeouts: how long a query may take is its sender's business.
    return {"cluster": ENGINES, "timeout": "0s", "retry_policy": retry_policy()}


def retry_policy() -> Manifest:
    """More tries than an engine has pods, each on a pod not tried yet, spread so that DNS and health can catch up."""
    return {
        "retry_on": ",".join(RETRY_ON),
        # The answer of an engine that is shutting down, given before any work on the query.
        "retriable_headers": [{"name": DRAINED_HEADER, "present_match": True}],
        "num_retries": 50,
        "retry_back_off": {"base_interval": "0.025s", "max_interval": "0.25s"},
        "retry_host_predicate": [
            extension(
                "envoy.retry_host_predicates.previous_hosts", "retry.host.previous_hosts.v3.PreviousHostsPredicate"
            )
        ],
        "host_selection_retry_max_attempts": 5,
    }
