"""Instances: TLS of both listeners."""

from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission.auth import edit
from tests.support.admission.case import Case, Condition, forbidden, invalid, required
from tests.support.admission.components import NEIGHBOURS, accepted, refused, spec

ENGINE_INVALID: Final = Condition(type="EngineTLSReady", reason="TLSSpecInvalid")
GATEWAY_INVALID: Final = Condition(type="GatewayTLSReady", reason="TLSSpecInvalid")
ENGINE: Final = "spec.tls.engine"
GATEWAY: Final = "spec.tls.gateway"
MINE: Final[Manifest] = {"enabled": True, "secretRef": {"name": "my-certificate"}}
RECORDED: Final[Manifest] = {"gatewayTLS": {"secretName": "my-certificate", "createdAt": "2026-01-01T00:00:00Z"}}


def issued(issuer: str = "ca", **fields: Any) -> Manifest:
    return {"enabled": True, "certManager": {"issuerRef": {"name": issuer}, **fields}}


def engine(**listener: Any) -> Manifest:
    return {"tls": {"engine": listener}}


def gateway(**listener: Any) -> Manifest:
    return {"tls": {"gateway": listener}}


def good(name: str, document: Manifest, **fields: Any) -> Case:
    return accepted(name, spec(**document), **fields)


def bad(name: str, errors: tuple[str, ...], document: Manifest, **fields: Any) -> Case:
    without = GATEWAY_INVALID if "gateway" in document["tls"] else ENGINE_INVALID
    return refused(name, errors, without, spec(**document), **fields)


SOURCE_ROWS: Final = (
    good("TLS off", {"tls": {"engine": {"enabled": False}, "gateway": {"enabled": False}}}),
    bad("engines without a source", required(f"{ENGINE}.certManager"), engine(enabled=True)),
    bad("a gateway without a source", required(f"{GATEWAY}.certManager"), gateway(enabled=True)),
    Case(
        id="an issuer without a name",
        kind="FireboltInstance",
        spec=spec(**engine(**issued(""))),
        schema="spec.tls.engine.certManager.issuerRef.name",
    ),
    good("issued", {"tls": {"engine": issued(), "gateway": issued()}}),
    bad(
        "a key that nobody makes",
        invalid(f"{GATEWAY}.certManager.size", f"{GATEWAY}.certManager.duration"),
        gateway(**issued(size=111, duration="90d")),
    ),
    bad("a Secret for engines", forbidden(f"{ENGINE}.secretRef"), engine(enabled=True, secretRef={"name": "x"})),
    bad("a Secret for engines, off", forbidden(f"{ENGINE}.secretRef"), engine(enabled=False, secretRef={"name": "x"})),
    bad("a nameless Secret for engines, off", forbidden(f"{ENGINE}.secretRef"), engine(secretRef={})),
    good("a Secret for the gateway", gateway(**MINE)),
    bad(
        "a nameless Secret for the gateway", required(f"{GATEWAY}.secretRef.name"), gateway(enabled=True, secretRef={})
    ),
    bad(
        "names that are none",
        invalid(f"{GATEWAY}.dnsNames[1]"),
        gateway(**issued(), dnsNames=["*.example.com", "not a name"]),
    ),
    bad("two sources", forbidden(f"{GATEWAY}.secretRef"), gateway(**issued(), secretRef={"name": "x"})),
    bad(
        "one listener speaks for both",
        required(f"{GATEWAY}.certManager"),
        {"tls": {"engine": issued(), "gateway": {"enabled": True}}},
    ),
)
MUTUAL_ROWS: Final = (
    good("clients with certificates", gateway(**issued(), clientCASecretRef={"name": "clients"})),
    bad("clients of nobody", required(f"{GATEWAY}.clientCASecretRef.name"), gateway(**issued(), clientCASecretRef={})),
    bad(
        "a list without an authority",
        forbidden(f"{GATEWAY}.crlSecretRef"),
        gateway(**issued(), crlSecretRef={"name": "crl"}),
    ),
    good(
        "a list with its authority",
        gateway(**issued(), clientCASecretRef={"name": "clients"}, crlSecretRef={"name": "crl"}),
    ),
    bad(
        "clients of engines",
        forbidden(f"{ENGINE}.clientCASecretRef"),
        engine(**issued(), clientCASecretRef={"name": "x"}),
    ),
    bad(
        "clients of a plain gateway",
        forbidden(f"{GATEWAY}.clientCASecretRef"),
        gateway(clientCASecretRef={"name": "x"}),
    ),
    bad(
        "a list of a plain gateway",
        forbidden(f"{GATEWAY}.crlSecretRef", f"{GATEWAY}.crlSecretRef"),
        gateway(crlSecretRef={"name": "x"}),
        says=("requires enabled: true", "requires spec.tls.gateway.clientCASecretRef"),
    ),
    good("a list of engines", engine(**issued(), crlSecretRef={"name": "crl"})),
)
OURS_ROWS: Final = (
    *(
        bad(
            f"the gateway shows {name}",
            forbidden(f"{GATEWAY}.secretRef"),
            gateway(enabled=True, secretRef={"name": name}),
            says=("the operator manages itself",),
        )
        for name in NEIGHBOURS
    ),
    *(
        good(f"the gateway shows {name}", gateway(enabled=True, secretRef={"name": name}))
        for name in ("my-own-tls", "my-own-engine-tls")
    ),
    edit(
        "one's own certificate, recorded by the operator",
        gateway(**MINE),
        gateway(**MINE, dnsNames=["x.example.com"]),
        status=RECORDED,
    ),
)
EDIT_ROWS: Final = (
    edit(
        "another issuer of engines",
        engine(**issued("ca-1")),
        engine(**issued("ca-2")),
        schema="issuerRef is immutable while engine TLS is enabled",
    ),
    edit("another issuer while turned off", engine(**issued("ca-1")), engine(**{**issued("ca-2"), "enabled": False})),
    edit("another issuer of the gateway", gateway(**issued("ca-1")), gateway(**issued("ca-2"))),
    edit("another key of engines", engine(**issued()), engine(**issued(size=256))),
    edit("another kind of key of the gateway", gateway(**issued()), gateway(**issued(algorithm="RSA", size=4096))),
)
ROWS: Final = (*SOURCE_ROWS, *MUTUAL_ROWS, *OURS_ROWS, *EDIT_ROWS)
