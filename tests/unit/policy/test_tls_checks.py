"""Which TLS settings are refused, and where?"""

from typing import Any

import pytest

from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.tls_checks import check_tls, check_tls_update
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import an_instance, an_instance_spec, paths

ISSUED: Manifest = {"certManager": {"issuerRef": {"name": "ca"}}}
ON: Manifest = {"enabled": True, **ISSUED}


def tls(where: str, **listener: Any) -> Manifest:
    return {where: listener}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({}, id="no-listener"),
        pytest.param({"engine": {"enabled": False}, "gateway": {"enabled": False}}, id="off"),
        pytest.param({"engine": {"enabled": False, **ISSUED, "dnsNames": ["x"]}}, id="off-with-an-issuer"),
        pytest.param({"engine": ON, "gateway": ON}, id="issued"),
        pytest.param(
            tls("gateway", enabled=True, secretRef={"name": "my-certificate"}), id="a-certificate-of-ones-own"
        ),
        pytest.param(tls("gateway", enabled=True, secretRef={"name": "my-own-engine-tls"}), id="no-generations-name"),
        pytest.param(tls("gateway", **ON, clientCASecretRef={"name": "clients"}), id="mutual"),
        pytest.param(
            tls("gateway", **ON, clientCASecretRef={"name": "clients"}, crlSecretRef={"name": "crl"}), id="mutual-crl"
        ),
        pytest.param(tls("engine", **ON, crlSecretRef={"name": "crl"}), id="engine-crl"),
        pytest.param(tls("engine", **ON, dnsNames=["x"]), id="engine-names-are-ignored"),
        pytest.param(tls("gateway", **ON, dnsNames=["x", "a.B-1.example.com", "*.example.com"]), id="names"),
        pytest.param(tls("gateway", **ON, dnsNames=["x"] * 64), id="as-many-names-as-may-be"),
    ],
)
def test_accepted(spec: Manifest) -> None:
    assert aggregate(check_tls(an_instance(tls=spec))) == ""


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(tls("engine", enabled=True), ["spec.tls.engine.certManager"], id="engine-without-a-source"),
        pytest.param(tls("gateway", enabled=True), ["spec.tls.gateway.certManager"], id="gateway-without-a-source"),
        pytest.param(
            tls("gateway", enabled=True, secretRef={}), ["spec.tls.gateway.secretRef.name"], id="a-nameless-secret"
        ),
        pytest.param(
            tls(
                "gateway",
                **ON,
                dnsNames=["", "a b", "a..b", "*", "a.*.b", "-a", "x" * 64, "a." * 127 + "b", "y", "z\n"],
            ),
            [f"spec.tls.gateway.dnsNames[{index}]" for index in (*range(8), 9)],
            id="no-dns-names",
        ),
        pytest.param(tls("gateway", **ON, dnsNames=["x"] * 65), ["spec.tls.gateway.dnsNames"], id="too-many-names"),
        pytest.param(tls("gateway", **ON, secretRef={"name": "x"}), ["spec.tls.gateway.secretRef"], id="two-sources"),
        pytest.param(
            tls("engine", enabled=True, secretRef={"name": "x"}), ["spec.tls.engine.secretRef"], id="engine-secret"
        ),
        pytest.param(tls("engine", secretRef={"name": ""}), ["spec.tls.engine.secretRef"], id="engine-secret-off"),
        pytest.param(
            tls("gateway", enabled=True, certManager={"issuerRef": {"name": "ca"}, "size": 111}),
            ["spec.tls.gateway.certManager.size"],
            id="no-such-size",
        ),
        pytest.param(
            tls("gateway", enabled=True, certManager={"issuerRef": {"name": "ca"}, "duration": "90d"}),
            ["spec.tls.gateway.certManager.duration"],
            id="no-duration",
        ),
        pytest.param(
            tls("gateway", **ON, clientCASecretRef={}), ["spec.tls.gateway.clientCASecretRef.name"], id="nameless-ca"
        ),
        pytest.param(
            tls("gateway", **ON, crlSecretRef={"name": "crl"}), ["spec.tls.gateway.crlSecretRef"], id="crl-without-ca"
        ),
        pytest.param(
            tls("engine", **ON, clientCASecretRef={"name": "x"}),
            ["spec.tls.engine.clientCASecretRef"],
            id="engine-mtls",
        ),
        pytest.param(
            tls("gateway", clientCASecretRef={"name": "x"}), ["spec.tls.gateway.clientCASecretRef"], id="off-with-ca"
        ),
        pytest.param(
            tls("gateway", crlSecretRef={"name": "x"}), ["spec.tls.gateway.crlSecretRef"] * 2, id="off-with-crl-only"
        ),
        *(
            pytest.param(
                tls("gateway", enabled=True, secretRef={"name": name}), ["spec.tls.gateway.secretRef"], id=name
            )
            for name in (
                "inst-auth-signing",
                "engine-a-g1-engine-tls",
                "other-auth-signing-signing-3",
                "other-metadata-postgres-creds",
                "other-gateway-tls",
            )
        ),
    ],
)
def test_refused(spec: Manifest, expected: list[str]) -> None:
    assert paths(check_tls(an_instance(tls=spec))) == expected


def test_a_certificate_of_ones_own_stays_ones_own_when_the_status_names_it() -> None:
    status = {"gatewayTLS": {"secretName": "mine", "createdAt": "2026-01-01T00:00:00Z"}}
    spec = tls("gateway", enabled=True, secretRef={"name": "mine"})
    assert check_tls(an_instance(tls=spec, status=status)) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(ON, {**ON, "certManager": {"issuerRef": {"name": "ca-2"}}}, True, id="another-issuer"),
        pytest.param(ON, {**ON, "certManager": {"issuerRef": {"name": "ca", "kind": "Issuer"}}}, True, id="its-kind"),
        pytest.param(ON, {"enabled": False, "certManager": {"issuerRef": {"name": "ca-2"}}}, False, id="turned-off"),
        pytest.param({"enabled": False}, ON, False, id="turned-on"),
        pytest.param(ON, {**ON, "certManager": {"issuerRef": {"name": "ca"}, "size": 256}}, False, id="its-size"),
    ],
)
def test_the_issuer_of_engines_stays_while_tls_is_on(old: Manifest, new: Manifest, expected: bool) -> None:
    before, after = an_instance_spec(tls={"engine": old}).tls, an_instance_spec(tls={"engine": new}).tls
    found = check_tls_update(before, after)
    assert paths(found) == (["spec.tls.engine.certManager.issuerRef"] if expected else [])
    assert check_tls_update(None, after) == check_tls_update(before, None) == []


def test_an_issuer_is_printed_whole() -> None:
    old = an_instance_spec(tls={"engine": ON}).tls
    new = an_instance_spec(tls={"engine": {**ON, "certManager": {"issuerRef": {"name": "ca-2"}}}}).tls
    assert 'Invalid value: {"name":"ca-2","kind":"ClusterIssuer"}' in aggregate(check_tls_update(old, new))
