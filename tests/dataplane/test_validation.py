"""Does Envoy accept every configuration that can be rendered?"""

import json
from pathlib import Path

import pytest

from firebolt_operator.gateway.envoy.bootstrap import closed_bootstrap, envoy_bootstrap
from firebolt_operator.gateway.envoy.transport import FOLDER, downstream_tls, upstream_tls
from firebolt_operator.gateway.inputs import GatewayInputs, GatewayTLS
from tests.support.dataplane.envoy import validation_error
from tests.support.gateways import an_instance, gateway_inputs
from tests.support.self_signed import a_private_key, private_pem, revocations, self_signed

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


@pytest.mark.parametrize("is_mutual", [False, True], ids=["one-way", "mutual"])
async def test_given_tls_on_both_sides_when_rendered_then_envoy_accepts_it(tmp_path: Path, *, is_mutual: bool) -> None:
    """It loads every file, so the places of certificates and lists are tried as well."""
    key = a_private_key()
    texts = {
        "tls.crt": self_signed(key),
        "tls.key": private_pem(key),
        "ca.crt": self_signed(key),
        "crl.pem": revocations(key),
    }
    for folder in ("gateway", "client-ca", "client-crl", "engine-ca", "engine-crl"):
        (tmp_path / folder).mkdir()
        for name, text in texts.items():
            (tmp_path / folder / name).write_text(text)
    tls = GatewayTLS(
        downstream=downstream_tls(asks_for_certificate=is_mutual, has_crl=is_mutual),
        upstream=upstream_tls("ns", has_crl=is_mutual),
    )
    rendered = json.dumps(envoy_bootstrap(gateway_inputs(wake=True, tls=tls)))
    assert await validation_error(json.loads(rendered.replace(FOLDER, str(tmp_path))), tmp_path) == ""


async def test_given_a_closed_listener_when_rendered_then_envoy_accepts_it(tmp_path: Path) -> None:
    assert await validation_error(closed_bootstrap(gateway_inputs(wake=True)), tmp_path) == ""


async def test_given_a_mistake_when_validated_then_envoy_says_so(tmp_path: Path) -> None:
    bootstrap = envoy_bootstrap(gateway_inputs())
    bootstrap["static_resources"]["clusters"][0]["connect_timeuot"] = "1s"
    assert "connect_timeuot" in await validation_error(bootstrap, tmp_path)
