"""What does Envoy listen on, and which headers of a client go before anything reads them?"""

from collections.abc import Callable

import pytest

from firebolt_operator.gateway.envoy.access_log import access_log
from firebolt_operator.gateway.envoy.forged_headers import without_forged_headers
from firebolt_operator.gateway.envoy.http_filters import ONLY_GET, health_check, query_filters, router
from firebolt_operator.gateway.envoy.listeners import client_listener, listeners, stats_listener
from firebolt_operator.gateway.envoy.local_replies import local_replies
from firebolt_operator.gateway.envoy.routing import query_routes
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest
from tests.support.gateways import an_instance, gateway_inputs
from tests.unit.gateway.envoy.test_bootstrap import manager

INPUTS = gateway_inputs(an_instance(metrics_port=19090), wake=True)
MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
CLAIMED = """
    attempt-count decorator-operation downstream-service-cluster downstream-service-node expected-rq-timeout-ms
    external-address force-trace internal ip-tags is-timeout-retry original-dst-host original-host original-method
    original-path original-url peer-metadata peer-metadata-id upstream-alt-stat-name
"""
ORDERED = """
    hedge-on-per-try-timeout max-retries retriable-header-names retriable-status-codes retry-grpc-on retry-on
    upstream-rq-per-try-timeout-ms upstream-rq-timeout-alt-response upstream-rq-timeout-ms upstream-stream-duration-ms
"""


def test_queries_have_one_listener_and_metrics_the_other() -> None:
    assert listeners(INPUTS) == [client_listener(INPUTS), stats_listener(INPUTS)]


@pytest.mark.parametrize(
    ("render", "name", "port"),
    [
        pytest.param(client_listener, "listener", 8080, id="queries"),
        pytest.param(stats_listener, "stats_listener", 19090, id="metrics"),
    ],
)
def test_each_listens_on_every_address_of_its_pod_and_speaks_http(
    render: Callable[[GatewayInputs], Manifest], name: str, port: int
) -> None:
    found = render(INPUTS)
    assert (found["name"], found["address"]) == (name, {"socket_address": {"address": "0.0.0.0", "port_value": port}})
    [chain] = found["filter_chains"]
    [speaker] = chain["filters"]
    assert chain.keys() == {"filters"}
    assert speaker["name"] == "envoy.filters.network.http_connection_manager"
    assert speaker["typed_config"]["@type"] == MANAGER


def test_the_client_listener_takes_as_much_of_a_query_as_can_be_sent_again() -> None:
    found = client_listener(INPUTS)
    assert found.keys() == {
        "name",
        "per_connection_buffer_limit_bytes",
        "address",
        "socket_options",
        "filter_chains",
    }
    assert found["per_connection_buffer_limit_bytes"] == 2 * 1024 * 1024


def test_queries_are_counted_logged_filtered_routed_and_never_cut_for_being_silent() -> None:
    assert manager(client_listener(INPUTS)) == {
        "@type": MANAGER,
        "stat_prefix": "gateway",
        "stream_idle_timeout": "0s",
        "request_headers_timeout": "10s",
        "request_timeout": "3600s",
        "delayed_close_timeout": "0s",
        "internal_address_config": {"cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]},
        "early_header_mutation_extensions": [without_forged_headers()],
        "access_log": [access_log()],
        "local_reply_config": local_replies(),
        "http_filters": query_filters(INPUTS),
        "route_config": query_routes(INPUTS),
    }


def test_behind_the_metrics_port_there_is_one_path_compared_whole_and_as_it_came() -> None:
    found = stats_listener(INPUTS)
    assert found.keys() == {"name", "address", "filter_chains"}
    only_metrics = {
        "match": {"path": "/stats/prometheus", "headers": [ONLY_GET]},
        "route": {"cluster": "admin_stats"},
    }
    assert manager(found) == {
        "@type": MANAGER,
        "stat_prefix": "stats",
        "codec_type": "HTTP1",
        "normalize_path": False,
        "merge_slashes": False,
        "path_with_escaped_slashes_action": "REJECT_REQUEST",
        "route_config": {
            "name": "stats_route",
            "virtual_hosts": [{"name": "stats", "domains": ["*"], "routes": [only_metrics]}],
        },
        "http_filters": [health_check(ONLY_GET), router()],
    }


def test_every_header_that_envoy_would_believe_or_obey_goes_on_arrival() -> None:
    found = without_forged_headers()
    assert found["name"] == "envoy.http.early_header_mutation.header_mutation"
    settings = found["typed_config"]
    assert settings["@type"] == (
        "type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation"
    )
    assert settings.keys() == {"@type", "mutations"}
    assert all(each.keys() == {"remove"} for each in settings["mutations"])
    removed = sorted(each["remove"] for each in settings["mutations"])
    assert removed == sorted(f"x-envoy-{name}" for name in f"{CLAIMED} {ORDERED}".split())
