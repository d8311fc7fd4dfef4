"""What happens to a request between its arrival and its routing, step by step?"""

from typing import Final

from firebolt_operator.gateway.envoy.extensions import extension
from firebolt_operator.gateway.envoy.script import lua_source
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest

HEALTH_PATH: Final = "/healthz"


HEALTH_PATTERN: Final = r"^/healthz(\?.*)?$"  # `/healthz/` is a query like any other
ONLY_GET: Final[Manifest] = {"name": ":method", "string_match": {"exact": "GET"}}


def query_filters(inputs: GatewayInputs) -> list[Manifest]:
    """Probes are answered before anything selects or wakes an engine."""
    return [health_check(), engine_selector(inputs), dynamic_forward_proxy(), router()]


def health_check(*more: Manifest) -> Manifest:
    """200, or 503 once shutdown has begun; `more` has to match as well."""
    is_probe = {"name": ":path", "string_match": {"safe_regex": {"regex": HEALTH_PATTERN}}}
    return extension(
        "envoy.filters.http.health_check",
        "filters.http.health_check.v3.HealthCheck",
        {"pass_through_mode": False, "headers": [is_probe, *more]},
    )


def engine_selector(inputs: GatewayInputs) -> Manifest:
    return extension(
        "envoy.filters.http.lua",
        "filters.http.lua.v3.Lua",
        {"default_source_code": {"inline_string": lua_source(inputs)}},
    )


def dynamic_forward_proxy() -> Manifest:
    """Finds the cluster of an engine, or makes it; the first query waits for that."""
    return extension(
        "envoy.filters.http.dynamic_forward_proxy",
        "filters.http.dynamic_forward_proxy.v3.FilterConfig",
        {"sub_cluster_config": {"cluster_init_timeout": "5s"}},
    )


def router() -> Manifest:
    return extension("envoy.filters.http.router", "filters.http.router.v3.Router")
