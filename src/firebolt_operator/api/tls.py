"""TLS settings of the two listeners, and the certificate request they share with the signing keys."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firebolt_operator.api.model import Duration, Instant, Int32, LocalRef, Model, note, rule

LONGEST_NAME = 253  # characters of a DNS name
ATOMIC = {"x-kubernetes-map-type": "atomic"}
ISSUER_RULE = rule(
    "!(self.enabled && oldSelf.enabled) || !has(self.certManager) || !has(oldSelf.certManager)"
    " || (self.certManager.issuerRef.name == oldSelf.certManager.issuerRef.name"
    " && self.certManager.issuerRef.kind == oldSelf.certManager.issuerRef.kind)",
    "spec.tls.engine.certManager.issuerRef is immutable while engine TLS is enabled;"
    " disable engine TLS first, or recreate the FireboltInstance",
)


class IssuerRef(Model, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1), note("Name of the issuer.")]
    kind: Annotated[Literal["Issuer", "ClusterIssuer"], note("Kind of the issuer.", default="ClusterIssuer")] = (
        "ClusterIssuer"
    )


class CertManagerSpec(Model, frozen=True, kw_only=True):
    """A certificate that cert-manager issues."""

    issuer_ref: Annotated[IssuerRef, note("The cert-manager issuer.")]
    algorithm: Annotated[Literal["RSA", "ECDSA"], note("Algorithm of the key.", default="ECDSA")] = "ECDSA"
    size: Annotated[Int32, note("Size of the key in bits.", default=384)] = 384
    duration: Annotated[Duration | None, note("Lifetime of the certificate.")] = None
    renew_before: Annotated[Duration | None, note("How long before its end the certificate is renewed.")] = None


class TLSListener(Model, frozen=True, kw_only=True):
    enabled: Annotated[bool, note("Turns TLS on for this listener.", default=False)] = False
    cert_manager: Annotated[CertManagerSpec | None, note("Have cert-manager issue the certificate.")] = None
    secret_ref: Annotated[LocalRef | None, note("A certificate of your own; gateway only.", **ATOMIC)] = None
    client_ca_secret_ref: Annotated[
        LocalRef | None, note("CA that client certificates must chain to; gateway only.", **ATOMIC)
    ] = msgspec.field(default=None, name="clientCASecretRef")
    crl_secret_ref: Annotated[LocalRef | None, note("Revocation list, key crl.pem.", **ATOMIC)] = None
    dns_names: Annotated[
        list[Annotated[str, Meta(extra_json_schema={"maxLength": LONGEST_NAME})]],
        note("Further names in the gateway's certificate."),
    ] = []


class TLSSpec(Model, frozen=True, kw_only=True):
    gateway: Annotated[TLSListener | None, note("TLS between clients and the gateway.")] = None
    engine: Annotated[
        TLSListener | None,
        note("TLS between the gateway and engines.", **{"x-kubernetes-validations": [ISSUER_RULE]}),
    ] = None


class EngineTLSStatus(Model, frozen=True, kw_only=True):
    secret_name: Annotated[str, note("Secret that anchors trust in engine certificates.")]
    created_at: Annotated[Instant, note("When it was first seen.")]
    reencrypting: Annotated[bool, note("Whether the gateway speaks TLS to engines.")] = False


class GatewayTLSStatus(Model, frozen=True, kw_only=True):
    secret_name: Annotated[str, note("Secret with the gateway's certificate.")]
    created_at: Annotated[Instant, note("When it was first seen.")]
    mode: Annotated[str, note("TLS or MutualTLS.")] = ""
    client_ca_fingerprint: Annotated[str, note("SHA-256 of the client CA.")] = msgspec.field(
        default="", name="clientCAFingerprint"
    )
