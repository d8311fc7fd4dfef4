"""What does Envoy listen on: queries from clients, probes and metrics?"""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.access_log import access_log
from firebolt_operator.gateway.clusters import ADMIN_STATS, REPLAY_BUFFER_BYTES
from firebolt_operator.gateway.extensions import extension, socket_address
from firebolt_operator.gateway.http_filters import health_check, query_filters, router
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.local_replies import local_replies
from firebolt_operator.gateway.routing import query_routes
from firebolt_operator.gateway.sockets import listener_options
from firebolt_operator.refs import Manifest

EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - a pod's own address is not known when this is rendered


def listeners(inputs: GatewayInputs) -> list[Manifest]:
    return [client_listener(inputs), stats_listener(inputs)]


def client_listener(inputs: GatewayInputs) -> Manifest:
    chain: Manifest = {"filters": [_query_manager(inputs)]}
    if inputs.tls.downstream is not None:
        chain["transport_socket"] = inputs.tls.downstream
    return {
        "name": "listener",
        "per_connection_buffer_limit_bytes": REPLAY_BUFFER_BYTES,
        "address": socket_address(EVERYWHERE, names.PORT_GATEWAY),
        "socket_options": listener_options(),
        "filter_chains": [chain],
    }


def stats_listener(inputs: GatewayInputs) -> Manifest:
    """Plain HTTP whatever the client listener speaks, so that probes and Prometheus always get through."""
    route = {"match": {"prefix": "/stats/prometheus"}, "route": {"cluster": ADMIN_STATS}}
    manager = _connection_manager(
        {
            "stat_prefix": "stats",
            "route_config": {
                "name": "stats_route",
                "virtual_hosts": [{"name": "stats", "domains": ["*"], "routes": [route]}],
            },
            "http_filters": [health_check(), router()],
        }
    )
    return {
        "name": "stats_listener",
        "address": socket_address(EVERYWHERE, inputs.instance.spec.gateway.metrics_port),
        "filter_chains": [{"filters": [manager]}],
    }


def _query_manager(inputs: GatewayInputs) -> Manifest:
    return _connection_manager(
        {
            "stat_prefix": "gateway",
            # A query may be silent for hours; TCP finds dead peers instead.
            "stream_idle_timeout": "0s",
            "request_headers_timeout": "10s",
            "request_timeout": "3600s",  # for sending a query, not for answering it
            # A connection that ends after its answer ends when all of that is sent, however slowly its client reads.
            "delayed_close_timeout": "0s",
            "access_log": [access_log()],
            "local_reply_config": local_replies(),
            "http_filters": query_filters(inputs),
            "route_config": query_routes(inputs),
        }
    )


def _connection_manager(settings: Manifest) -> Manifest:
    return extension(
        "envoy.filters.network.http_connection_manager",
        "filters.network.http_connection_manager.v3.HttpConnectionManager",
        settings,
    )
