"""Is a scheme told only where it is certain?"""

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.scheme import engine_scheme, gateway_scheme


def an_instance(asked: dict[str, bool], **status: Manifest | None) -> Manifest:
    tls = {listener: {"enabled": enabled} for listener, enabled in asked.items()}
    return {"spec": {"tls": tls}, "status": status}


@pytest.mark.parametrize(
    ("instance", "scheme"),
    [
        (None, ""),
        ({"spec": {}, "status": {}}, "http"),
        ({"spec": {"tls": None}}, "http"),
        (an_instance({"gateway": False}), "http"),
        (an_instance({"gateway": True}), ""),
        (an_instance({"gateway": True}, gatewayTLS={}), "https"),
        (an_instance({}, gatewayTLS={"notAfter": "x"}), "https"),
    ],
)
def test_gateways(instance: Manifest | None, scheme: str) -> None:
    assert gateway_scheme(instance) == scheme


@pytest.mark.parametrize(
    ("instance", "scheme"),
    [
        (None, ""),
        ({"spec": {}, "status": {}}, "http"),
        (an_instance({"engine": True}), ""),
        (an_instance({"engine": True}, engineTLS={"reencrypting": False}), ""),
        (an_instance({"engine": True}, engineTLS={"reencrypting": True}), "https"),
        (an_instance({"engine": False}, engineTLS={"reencrypting": True}), ""),
    ],
)
def test_engines(instance: Manifest | None, scheme: str) -> None:
    assert engine_scheme(instance) == scheme
