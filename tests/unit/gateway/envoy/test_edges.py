"""What stands at the gateway's edges: socket options, its own answers, the metrics port, what clients may claim."""

from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap, envoy_yaml
from firebolt_operator.gateway.envoy.forged_headers import without_forged_headers
from firebolt_operator.gateway.envoy.local_replies import local_replies
from firebolt_operator.refs import Manifest
from tests.support.gateways import gateway_inputs
from tests.unit.gateway.envoy.test_bootstrap import cluster, listener, manager


def test_when_rendered_then_both_sides_probe_silent_peers_and_neither_limits_unacknowledged_data() -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    options = listener(bootstrap, "listener")["socket_options"]
    assert {(each["level"], each["name"]): each["int_value"] for each in options} == {
        (1, 9): 1,  # SO_KEEPALIVE
        (6, 4): 60,  # TCP_KEEPIDLE
        (6, 5): 15,  # TCP_KEEPINTVL
        (6, 6): 4,  # TCP_KEEPCNT; no 18, TCP_USER_TIMEOUT
    }
    engines = cluster(bootstrap, "dynamic_forward_proxy")
    assert engines["upstream_connection_options"] == {
        "tcp_keepalive": {"keepalive_time": 60, "keepalive_interval": 15, "keepalive_probes": 4}
    }
    assert "upstream_bind_config" not in engines


def test_when_rendered_then_a_pod_is_found_sick_or_well_within_seconds() -> None:
    engines = cluster(envoy_bootstrap(gateway_inputs()), "dynamic_forward_proxy")
    assert engines["connect_timeout"] == "0.25s"
    assert engines["health_checks"] == [
        {
            "timeout": "0.5s",
            "interval": "1s",
            "no_traffic_interval": "1s",
            "healthy_threshold": 1,
            "unhealthy_threshold": 1,
            "http_health_check": {"path": "/health/ready"},
        }
    ]


def test_when_an_engine_took_a_query_and_did_not_answer_then_the_gateway_says_that_the_outcome_is_open() -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    replies = manager(listener(bootstrap, "listener"))["local_reply_config"]
    assert replies == local_replies()
    [mapper, refused] = replies["mappers"]
    assert mapper["filter"] == {"response_flag_filter": {"flags": ["UC", "UPE"]}}
    assert mapper["headers_to_add"] == [
        {
            "header": {"key": "x-firebolt-outcome", "value": "unknown"},
            "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
        }
    ]
    assert mapper["body"]["inline_string"].endswith("whether it took effect is unknown\n")
    assert refused["filter"] == {"response_flag_filter": {"flags": ["UH", "UF"]}}
    assert refused["headers_to_add"][0]["header"] == {"key": "retry-after", "value": "1"}


def test_when_rendered_then_the_metrics_port_answers_two_requests_and_no_path_is_made_another() -> None:
    stats = manager(listener(envoy_bootstrap(gateway_inputs()), "stats_listener"))
    [host] = stats["route_config"]["virtual_hosts"]
    only_get = {"name": ":method", "string_match": {"exact": "GET"}}
    assert host["routes"] == [
        {"match": {"path": "/stats/prometheus", "headers": [only_get]}, "route": {"cluster": "admin_stats"}}
    ]
    assert (stats["normalize_path"], stats["merge_slashes"]) == (False, False)
    assert stats["path_with_escaped_slashes_action"] == "REJECT_REQUEST"
    assert stats["codec_type"] == "HTTP1"
    assert _probe_headers(stats) == [_is_probe(), only_get]


def test_when_rendered_then_a_probe_on_the_client_port_may_have_a_query_string_and_any_method() -> None:
    assert _probe_headers(manager(listener(envoy_bootstrap(gateway_inputs()), "listener"))) == [_is_probe()]


def _probe_headers(found: Manifest) -> list[Manifest]:
    headers: list[Manifest] = found["http_filters"][0]["typed_config"]["headers"]
    return headers


def _is_probe() -> Manifest:
    return {"name": ":path", "string_match": {"safe_regex": {"regex": r"^/healthz(\?.*)?$"}}}


def test_when_rendered_then_no_claimed_address_is_trusted_and_forged_headers_go_on_arrival() -> None:
    http = manager(listener(envoy_bootstrap(gateway_inputs()), "listener"))
    assert http["internal_address_config"] == {"cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]}
    assert http["early_header_mutation_extensions"] == [without_forged_headers()]
    text = envoy_yaml(gateway_inputs())
    for name in ("x-envoy-original-path", "x-envoy-internal", "x-envoy-retry-on", "x-envoy-max-retries"):
        assert f"- remove: {name}\n" in text
