"""Which headers of a client would Envoy believe or obey? They go before anything reads, logs or passes them on."""

from typing import Final

from firebolt_operator.gateway.envoy.extensions import extension
from firebolt_operator.refs import Manifest

# By name: a pattern is more than the default image of Envoy is sure to know.
CLAIMS: Final[tuple[str, ...]] = (
    "x-envoy-original-path",
    "x-envoy-original-host",
    "x-envoy-original-url",
    "x-envoy-original-method",
    "x-envoy-original-dst-host",
    "x-envoy-internal",
    "x-envoy-external-address",
    "x-envoy-attempt-count",
    "x-envoy-is-timeout-retry",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-decorator-operation",
    "x-envoy-downstream-service-cluster",
    "x-envoy-downstream-service-node",
    "x-envoy-force-trace",
    "x-envoy-ip-tags",
    "x-envoy-peer-metadata",
    "x-envoy-peer-metadata-id",
    "x-envoy-upstream-alt-stat-name",
)
ORDERS: Final[tuple[str, ...]] = (
    "x-envoy-retry-on",
    "x-envoy-retry-grpc-on",
    "x-envoy-max-retries",
    "x-envoy-retriable-status-codes",
    "x-envoy-retriable-header-names",
    "x-envoy-hedge-on-per-try-timeout",
    "x-envoy-upstream-rq-timeout-ms",
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-upstream-rq-timeout-alt-response",
    "x-envoy-upstream-stream-duration-ms",
)
"""Obeyed when a request comes from inside: a retry of our client's own would run a query twice."""

NOBODY: Final = {"address_prefix": "255.255.255.255", "prefix_len": 32}


def inside_addresses() -> Manifest:
    """Nobody's, whatever this version of Envoy would take for inside. Without a range Envoy falls back on its own."""
    return {"cidr_ranges": [NOBODY]}


def without_forged_headers() -> Manifest:
    """On arrival: answers that Envoy gives itself are logged with these headers as well."""
    return extension(
        "envoy.http.early_header_mutation.header_mutation",
        "http.early_header_mutation.header_mutation.v3.HeaderMutation",
        {"mutations": [{"remove": name} for name in (*CLAIMS, *ORDERS)]},
    )
