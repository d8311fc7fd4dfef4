"""What does Envoy listen on: queries from clients, probes and metrics?"""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.access_log import access_log
from firebolt_operator.gateway.envoy.clusters import ADMIN_STATS, REPLAY_BUFFER_BYTES
from firebolt_operator.gateway.envoy.extensions import extension, socket_address
from firebolt_operator.gateway.envoy.forged_headers import inside_addresses, without_forged_headers
from firebolt_operator.gateway.envoy.http_filters import ONLY_GET, health_check, query_filters, router
from firebolt_operator.gateway.envoy.local_replies import local_replies
from firebolt_operator.gateway.envoy.routing import query_routes
from firebolt_operator.gateway.envoy.sockets import listener_options
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest

STATS_PATH: Final = "/stats/prometheus"
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
    """Plain HTTP whatever the client listener speaks, so that probes and Prometheus always get through.

    Behind its one route is Envoy's admin interface, which can end Envoy and shows its configuration. So the path is
    compared whole and as it came, and what the admin interface gets is exactly what was compared.
    """
    route = {"match": {"path": STATS_PATH, "headers": [ONLY_GET]}, "route": {"cluster": ADMIN_STATS}}
    manager = _connection_manager(
        {
            "stat_prefix": "stats",
            "codec_type": "HTTP1",
            "normalize_path": False,
            "merge_slashes": False,
            "path_with_escaped_slashes_action": "REJECT_REQUEST",
            "route_config": {
                "name": "stats_route",
                "virtual_hosts": [{"name": "stats", "domains": ["*"], "routes": [route]}],
            },
            "http_filters": [health_check(ONLY_GET), router()],
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
            "internal_address_config": inside_addresses(),
            "early_header_mutation_extensions": [without_forged_headers()],
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
