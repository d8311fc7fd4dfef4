"""Does Envoy accept every configuration that can be rendered?"""

from pathlib import Path

import pytest

from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap
from firebolt_operator.gateway.inputs import GatewayInputs
from tests.support.dataplane.envoy import validation_error
from tests.support.gateways import an_instance, gateway_inputs

LONG_TEMPLATE = {
    "metadata": {"annotations": {f"note-{number}": "x" * 200 for number in range(200)}},
    "spec": {"containers": [{"name": f"sidecar-{number}", "image": "img:v1"} for number in range(50)]},
}


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(gateway_inputs(), id="plain"),
        pytest.param(gateway_inputs(wake=True), id="wake"),
        pytest.param(gateway_inputs(an_instance(metrics_port=1), wake=True), id="lowest-metrics-port"),
        pytest.param(gateway_inputs(an_instance(metrics_port=65535)), id="highest-metrics-port"),
        pytest.param(gateway_inputs(an_instance("i" * 51, "n" * 63), wake=True), id="longest-names"),
        pytest.param(gateway_inputs(an_instance("i", "n")), id="shortest-names"),
        pytest.param(gateway_inputs(an_instance(template=LONG_TEMPLATE), wake=True), id="long-template"),
        pytest.param(
            gateway_inputs(an_instance(template={"spec": {"serviceAccountName": "mine"}}), wake=True),
            id="account-of-the-users",
        ),
    ],
)
async def test_given_any_instance_when_rendered_then_envoy_accepts_it(inputs: GatewayInputs, tmp_path: Path) -> None:
    assert await validation_error(envoy_bootstrap(inputs), tmp_path) == ""


async def test_given_a_mistake_when_validated_then_envoy_says_so(tmp_path: Path) -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    bootstrap["static_resources"]["clusters"][0]["connect_timeuot"] = "1s"
    assert "connect_timeuot" in await validation_error(bootstrap, tmp_path)
