"""Whom does Envoy talk to? Engines, found by name when a query asks for one, and two neighbours on loopback."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.extensions import extension, socket_address, typed
from firebolt_operator.gateway.envoy.sockets import upstream_keepalive
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest

ENGINES: Final = "dynamic_forward_proxy"
ADMIN_STATS: Final = "admin_stats"
WAKE_AGENT: Final = "wake_agent"

LOOPBACK: Final = "127.0.0.1"
CONNECT_TIMEOUT: Final = "0.25s"  # an address that leads nowhere must not stall a retry
TLS_CONNECT_TIMEOUT: Final = "2s"
"""A handshake is part of it, and an engine that works on queries takes its time for one: each try costs it another.
An address that leads nowhere is found out by health checks meanwhile."""
AGENT_CONNECT_TIMEOUT: Final = "5s"
"""An agent that is gone refuses at once. One whose queue is full is tried again by the kernel after a second: a query
that is not held meanwhile goes to an engine that is not there, and is lost."""

REPLAY_BUFFER_BYTES: Final = 2_097_152
"""A query is sent again only if it fits; listener and cluster must agree, the smaller one decides."""

MAX_RETRIES: Final = 16_384
"""Envoy counts the retries of all engines together, and a query that may not be sent again is lost: the limit lies
beyond what sixteen engines at the limit of their requests could ask for at once."""


MAX_ENGINES: Final = 1024
"""Names come from clients, and each costs lookups every second for as long as its cluster lives."""


MAX_HOLDS: Final = 100_000
"""More than an agent ever holds: it is the agent that says how many fit, and who is turned away."""


def clusters(inputs: GatewayInputs) -> list[Manifest]:
    neighbours = [loopback_cluster(ADMIN_STATS, names.PORT_ENVOY_ADMIN)]
    if inputs.wakes_engines:
        neighbours.append(agent_cluster())
    return [engine_cluster(inputs), *neighbours]


def engine_cluster(inputs: GatewayInputs) -> Manifest:
    """The pattern of every engine's own cluster, which copies these settings and holds one host per ready pod."""
    cluster: Manifest = {
        "name": ENGINES,
        "lb_policy": "CLUSTER_PROVIDED",
        "per_connection_buffer_limit_bytes": REPLAY_BUFFER_BYTES,
        "connect_timeout": CONNECT_TIMEOUT,
        # A generation that was switched off leaves DNS long before it stops being healthy; DNS decides.
        "ignore_health_on_host_removal": True,
        "dns_refresh_rate": "1s",
        "typed_dns_resolver_config": _resolver(),
        "typed_extension_protocol_options": _connection_reuse(),
        "upstream_connection_options": {"tcp_keepalive": upstream_keepalive()},
        "circuit_breakers": {"thresholds": [_breakers()]},
        "health_checks": [_health_check()],
        "cluster_type": extension(
            "envoy.clusters.dynamic_forward_proxy",
            "clusters.dynamic_forward_proxy.v3.ClusterConfig",
            # Sub-clusters, not a DNS cache: that would keep one host per engine, with nothing to balance or retry on.
            {"sub_clusters_config": _sub_clusters()},
        ),
    }
    if inputs.tls.upstream is None:
        return cluster
    return {**cluster, "connect_timeout": TLS_CONNECT_TIMEOUT, "transport_socket": inputs.tls.upstream}


def loopback_cluster(name: str, port: int, connect_timeout: str = CONNECT_TIMEOUT) -> Manifest:
    endpoint = {"endpoint": {"address": socket_address(LOOPBACK, port)}}
    return {
        "name": name,
        "connect_timeout": connect_timeout,
        "type": "STATIC",
        "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint]}]},
    }


def agent_cluster() -> Manifest:
    limits = {"max_connections": MAX_HOLDS, "max_pending_requests": MAX_HOLDS, "max_requests": MAX_HOLDS}
    return {
        **loopback_cluster(WAKE_AGENT, names.PORT_WAKE_HOLD, AGENT_CONNECT_TIMEOUT),
        "circuit_breakers": {"thresholds": [limits]},
    }


def _sub_clusters() -> Manifest:
    return {"lb_policy": "ROUND_ROBIN", "max_sub_clusters": MAX_ENGINES, "sub_cluster_ttl": "300s"}


def _resolver() -> Manifest:
    """Service names are complete, so a pod's search list would only multiply the lookups."""
    return extension(
        "envoy.network.dns_resolver.cares",
        "network.dns_resolver.cares.v3.CaresDnsResolverConfig",
        {"dns_resolver_options": {"no_default_search_domain": True}},
    )


def _connection_reuse() -> Manifest:
    """Connections are reused for a second: long enough to be cheap, too short to meet an engine that closes idle ones.

    A running query outlives both limits.
    """
    http_options = "upstreams.http.v3.HttpProtocolOptions"
    return {
        f"envoy.extensions.{http_options}": typed(
            http_options,
            {
                "common_http_protocol_options": {"max_connection_duration": "1s", "idle_timeout": "1s"},
                "explicit_http_config": {"http_protocol_options": {}},
                # Envoy demands these two on such a cluster; without TLS they do nothing.
                "upstream_http_protocol_options": {"auto_sni": True, "auto_san_validation": True},
            },
        )
    }


def _breakers() -> Manifest:
    """Per engine, retries aside: one that hangs cannot starve the others."""
    return {
        "priority": "DEFAULT",
        "max_connections": 1024,
        "max_pending_requests": 1024,
        "max_requests": 1024,
        "max_retries": MAX_RETRIES,
    }


def _health_check() -> Manifest:
    """An engine says 503 as soon as it is told to stop, while its running queries go on."""
    return {
        "timeout": "0.5s",
        "interval": "1s",
        "no_traffic_interval": "1s",
        "healthy_threshold": 1,
        "unhealthy_threshold": 1,
        "http_health_check": {"path": "/health/ready"},
    }
