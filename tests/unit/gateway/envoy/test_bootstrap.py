"""What must hold for Envoy's configuration, whatever the instance looks like?"""

from typing import Any

import pytest
import yaml

from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap, envoy_yaml
from firebolt_operator.gateway.inputs import GatewayInputs, GatewayTLS
from firebolt_operator.refs import Manifest
from firebolt_operator.wake.decide.capacity import MOST_HOLDS
from tests.support.gateways import an_instance, gateway_inputs

VARIANTS = [
    pytest.param(gateway_inputs(), id="plain"),
    pytest.param(gateway_inputs(wake=True), id="wake"),
    pytest.param(gateway_inputs(an_instance(metrics_port=19090), wake=True), id="other-metrics-port"),
    pytest.param(gateway_inputs(an_instance("i" * 51, "n" * 63), wake=True), id="longest-names"),
]


def listener(bootstrap: Manifest, name: str) -> Manifest:
    return next(each for each in bootstrap["static_resources"]["listeners"] if each["name"] == name)


def cluster(bootstrap: Manifest, name: str) -> Manifest:
    return next(each for each in bootstrap["static_resources"]["clusters"] if each["name"] == name)


def manager(found: Manifest) -> Manifest:
    settings: Manifest = found["filter_chains"][0]["filters"][0]["typed_config"]
    return settings


def route(bootstrap: Manifest) -> Manifest:
    hosts = manager(listener(bootstrap, "listener"))["route_config"]["virtual_hosts"]
    found: Manifest = hosts[0]["routes"][0]["route"]
    return found


@pytest.mark.parametrize("inputs", VARIANTS)
def test_when_rendered_twice_then_it_is_the_same_text_and_means_the_same_document(inputs: GatewayInputs) -> None:
    text = envoy_yaml(inputs)
    assert text == envoy_yaml(inputs)
    assert yaml.load(text, yaml.CSafeLoader) == envoy_bootstrap(inputs)


def test_given_two_namespaces_when_rendered_then_only_the_authority_suffix_differs() -> None:
    first = envoy_yaml(gateway_inputs(an_instance(namespace="one")))
    second = envoy_yaml(gateway_inputs(an_instance(namespace="two")))
    assert first != second
    assert first.replace("-service.one.svc", "-service.two.svc") == second


def test_given_two_names_in_one_namespace_when_rendered_then_nothing_differs() -> None:
    assert envoy_yaml(gateway_inputs(an_instance("a"))) == envoy_yaml(gateway_inputs(an_instance("b")))


def test_given_wake_off_when_rendered_then_nothing_speaks_of_it() -> None:
    text = envoy_yaml(gateway_inputs())
    assert not [word for word in ("wake_agent", "/hold?engine=", "httpCall", "9902") if word in text]
    assert 'headers:replace(":authority"' in text


def test_given_wake_on_when_rendered_then_headers_change_before_the_call() -> None:
    text = envoy_yaml(gateway_inputs(wake=True))
    marks = [
        'headers:replace(":path"',
        'headers:replace("x-firebolt-engine"',
        'headers:replace(":authority"',
        "handle:httpCall(",
        "decision ~= nil",
        '[":status"] ~= "200"',
    ]
    assert sorted(text.index(mark) for mark in marks) == [text.index(mark) for mark in marks]
    assert [each["name"] for each in envoy_bootstrap(gateway_inputs(wake=True))["static_resources"]["clusters"]] == [
        "dynamic_forward_proxy",
        "admin_stats",
        "wake_agent",
    ]


def test_when_rendered_then_only_what_surely_did_not_run_is_retried() -> None:
    policy = route(envoy_bootstrap(gateway_inputs()))["retry_policy"]
    assert policy["retry_on"].split(",") == [
        "connect-failure",
        "refused-stream",
        "reset-before-request",
        "retriable-headers",
    ]
    assert policy["retriable_headers"] == [{"name": "X-Firebolt-Drained", "present_match": True}]
    assert policy["retry_host_predicate"][0]["name"] == "envoy.retry_host_predicates.previous_hosts"
    assert (policy["num_retries"], policy["host_selection_retry_max_attempts"]) == (50, 5)
    assert policy["retry_back_off"] == {"base_interval": "0.025s", "max_interval": "0.25s"}


def test_when_rendered_then_engines_have_sub_clusters_with_one_host_per_pod() -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    engines = cluster(bootstrap, "dynamic_forward_proxy")
    assert bootstrap["static_resources"]["clusters"][0] == engines
    assert engines["cluster_type"]["typed_config"]["sub_clusters_config"] == {
        "lb_policy": "ROUND_ROBIN",
        "max_sub_clusters": 1024,
        "sub_cluster_ttl": "300s",
    }
    assert engines["ignore_health_on_host_removal"] is True
    assert engines["dns_refresh_rate"] == "1s"
    assert engines["circuit_breakers"]["thresholds"] == [
        {
            "priority": "DEFAULT",
            "max_connections": 1024,
            "max_pending_requests": 1024,
            "max_requests": 1024,
            "max_retries": 16_384,
        }
    ]
    text = envoy_yaml(gateway_inputs())
    assert "dns_cache_config" not in text
    assert "max_requests_per_connection" not in text
    assert text.count("per_connection_buffer_limit_bytes: 2097152") == 2


def test_when_rendered_then_a_silent_query_is_not_cut() -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    http = manager(listener(bootstrap, "listener"))
    assert route(bootstrap)["timeout"] == "0s"
    assert http["stream_idle_timeout"] == "0s"
    assert http["request_headers_timeout"] == "10s"
    assert http["request_timeout"] == "3600s"
    assert http["delayed_close_timeout"] == "0s"


def test_when_rendered_then_filters_come_in_order() -> None:
    http = manager(listener(envoy_bootstrap(gateway_inputs(wake=True)), "listener"))
    assert [each["name"].rpartition(".")[2] for each in http["http_filters"]] == [
        "health_check",
        "lua",
        "dynamic_forward_proxy",
        "router",
    ]


def test_given_a_metrics_port_when_rendered_then_only_the_stats_listener_moves() -> None:
    moved = envoy_bootstrap(gateway_inputs(an_instance(metrics_port=19090)))
    usual = envoy_bootstrap(gateway_inputs())
    assert listener(moved, "stats_listener")["address"]["socket_address"]["port_value"] == 19090
    assert listener(moved, "listener") == listener(usual, "listener")


def test_when_rendered_then_no_limit_of_envoys_own_lets_queries_skip_their_hold() -> None:
    agent = cluster(envoy_bootstrap(gateway_inputs(wake=True)), "wake_agent")
    (limits,) = agent["circuit_breakers"]["thresholds"]
    assert set(limits.values()) == {MOST_HOLDS}


def test_when_rendered_then_admin_is_on_loopback_only() -> None:
    address = envoy_bootstrap(gateway_inputs())["admin"]["address"]["socket_address"]
    assert address == {"address": "127.0.0.1", "port_value": 9901}


def test_given_tls_when_rendered_then_each_side_gets_its_own_socket() -> None:
    tls = GatewayTLS(downstream={"name": "down"}, upstream={"name": "up"})
    bootstrap = envoy_bootstrap(gateway_inputs(tls=tls))
    assert listener(bootstrap, "listener")["filter_chains"][0]["transport_socket"] == {"name": "down"}
    assert cluster(bootstrap, "dynamic_forward_proxy")["transport_socket"] == {"name": "up"}
    assert "transport_socket" not in envoy_yaml(gateway_inputs())


def test_when_rendered_then_the_access_log_keeps_every_percent_sign() -> None:
    log: Any = manager(listener(envoy_bootstrap(gateway_inputs()), "listener"))["access_log"][0]
    line = log["typed_config"]["log_format"]["text_format_source"]["inline_string"]
    assert line == (
        '[%START_TIME%] "%REQ(:METHOD):32% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH):1024% %PROTOCOL%" %RESPONSE_CODE% '
        "flags=%RESPONSE_FLAGS% details=%RESPONSE_CODE_DETAILS% tx_fail=%UPSTREAM_TRANSPORT_FAILURE_REASON% "
        "upstream=%UPSTREAM_HOST% cluster=%UPSTREAM_CLUSTER% duration=%DURATION%ms rx=%BYTES_RECEIVED% "
        "tx=%BYTES_SENT% client=%DOWNSTREAM_DIRECT_REMOTE_ADDRESS% "
        "authority=%REQ(:AUTHORITY):256% engine=%REQ(X-FIREBOLT-ENGINE):128%\n"
    )
