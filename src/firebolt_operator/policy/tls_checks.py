"""What is wrong with the TLS settings of an instance? Both listeners are judged together, whether on or off."""

import re
from collections.abc import Iterator
from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import LocalRef
from firebolt_operator.api.tls import LONGEST_NAME, CertManagerSpec, TLSListener, TLSSpec
from firebolt_operator.policy.certificate_keys import check_key_size
from firebolt_operator.policy.durations import check_durations
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden, invalid, required
from firebolt_operator.policy.protected_secrets import IsProtected
from firebolt_operator.policy.secret_references import check_reference, ours

MOST_NAMES: Final = 64
_LABEL: Final = "[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
DNS_NAME: Final = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
TLS: Final = Path("spec").child("tls")
ENGINE: Final = TLS.child("engine")
GATEWAY: Final = TLS.child("gateway")


def check_tls(instance: FireboltInstance) -> list[FieldError]:
    tls = instance.spec.tls
    if tls is None:
        return []
    is_ours = ours(instance)
    return [
        *_listener_errors(tls.engine, ENGINE, is_ours),
        *_listener_errors(tls.gateway, GATEWAY, is_ours),
        *(_name_errors(tls.gateway.dns_names) if tls.gateway else ()),
        *_cross_errors(tls),
        *check_durations(tls, TLS),
    ]


def _listener_errors(listener: TLSListener | None, base: Path, is_ours: IsProtected) -> Iterator[FieldError]:
    if listener is None:
        return
    for field, reference in _references(listener):
        yield from check_reference(reference.name, base.child(field), is_ours)
    if listener.enabled:
        yield from _source_errors(listener, base)
    for field, reference in _references(listener):
        if field == "secretRef":
            continue
        if not listener.enabled:
            # Someone means to keep clients out: that must not look as if it were done.
            yield forbidden(base.child(field), "requires enabled: true")
        elif not reference.name:
            yield required(base.child(field, "name"), "name a Secret of this namespace")


def _references(listener: TLSListener) -> list[tuple[str, LocalRef]]:
    given = (
        ("secretRef", listener.secret_ref),
        ("clientCASecretRef", listener.client_ca_secret_ref),
        ("crlSecretRef", listener.crl_secret_ref),
    )
    return [(field, reference) for field, reference in given if reference is not None]


def _source_errors(listener: TLSListener, base: Path) -> Iterator[FieldError]:
    asked, own = listener.cert_manager, listener.secret_ref
    if asked is None and own is None:
        yield required(base.child("certManager"), "a listener with TLS needs a certificate")
    elif asked is not None and own is not None:
        yield forbidden(base.child("secretRef"), "certManager is set as well; a certificate has exactly one source")
    elif own is not None and not own.name:
        yield required(base.child("secretRef", "name"), "name the Secret with tls.crt and tls.key")
    elif asked is not None:
        if not asked.issuer_ref.name:
            yield required(base.child("certManager", "issuerRef", "name"), "name the cert-manager issuer")
        yield from check_key_size(asked, base.child("certManager"))


def _name_errors(given: list[str]) -> Iterator[FieldError]:
    """They go to an issuer that others may use too."""
    field = GATEWAY.child("dnsNames")
    if len(given) > MOST_NAMES:
        yield invalid(field, len(given), f"must be at most {MOST_NAMES} names")
        return
    for index, name in enumerate(given):
        if len(name) > LONGEST_NAME or DNS_NAME.fullmatch(name) is None:
            yield invalid(field.at(index), name[:LONGEST_NAME], "must be a DNS name, which may begin with *.")


def _cross_errors(tls: TLSSpec) -> Iterator[FieldError]:
    gateway, engine = tls.gateway, tls.engine
    if gateway and gateway.crl_secret_ref is not None and gateway.client_ca_secret_ref is None:
        yield forbidden(GATEWAY.child("crlSecretRef"), "requires spec.tls.gateway.clientCASecretRef")
    if engine and engine.client_ca_secret_ref is not None:
        yield forbidden(ENGINE.child("clientCASecretRef"), "clients are asked for a certificate by the gateway only")
    if engine and engine.secret_ref is not None:
        detail = "every generation of an engine has a certificate of its own; use certManager"
        yield forbidden(ENGINE.child("secretRef"), detail)


def check_tls_update(old: TLSSpec | None, new: TLSSpec | None) -> list[FieldError]:
    """New certificates under a new CA would not be trusted by the gateway in the middle of a rollout."""
    before, after = _enabled_issuance(old), _enabled_issuance(new)
    if before is None or after is None or before.issuer_ref == after.issuer_ref:
        return []
    detail = "is immutable while engine TLS is enabled; disable engine TLS first, or recreate the instance"
    issuer = {"name": after.issuer_ref.name, "kind": after.issuer_ref.kind}
    return [invalid(ENGINE.child("certManager", "issuerRef"), issuer, detail)]


def _enabled_issuance(tls: TLSSpec | None) -> CertManagerSpec | None:
    engine = tls.engine if tls else None
    return engine.cert_manager if engine and engine.enabled else None
