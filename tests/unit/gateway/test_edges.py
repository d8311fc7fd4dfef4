"""What stands at the gateway's edges: socket options and its own answers."""

from firebolt_operator.gateway.bootstrap import envoy_bootstrap
from firebolt_operator.gateway.local_replies import local_replies
from tests.unit.gateway.builders import gateway_inputs
from tests.unit.gateway.test_bootstrap import cluster, listener, manager


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


def test_when_an_engine_took_a_query_and_did_not_answer_then_the_gateway_says_that_the_outcome_is_open() -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    replies = manager(listener(bootstrap, "listener"))["local_reply_config"]
    assert replies == local_replies()
    [mapper] = replies["mappers"]
    assert mapper["filter"] == {"response_flag_filter": {"flags": ["UC", "UPE"]}}
    assert mapper["headers_to_add"] == [
        {
            "header": {"key": "x-firebolt-outcome", "value": "unknown"},
            "append_action": "OVERWRITE_IF_EXISTS_OR_ADD",
        }
    ]
    assert mapper["body"]["inline_string"].endswith("whether it took effect is unknown\n")
