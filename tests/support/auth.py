"""Builders for authentication: specs, keys, what cert-manager made of them, and the engines that hold them."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from firebolt_operator.api.auth import (
    AdminSpec,
    AuthSpec,
    AuthStatus,
    LocalAuthSpec,
    SecretKeySelector,
    SigningKeysSpec,
    SigningKeyStatus,
)
from firebolt_operator.api.names import KEY_PRIVATE_KEY, signing_key_id, signing_key_name
from firebolt_operator.api.tls import CertManagerSpec, IssuerRef
from firebolt_operator.auth.facts import AuthSituation, EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import HeldKey
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret
from firebolt_operator.policy.auth_checks import check_auth
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.protected_secrets import is_protected
from tests.support.engines import NOON

DAY = timedelta(days=1)
ISSUER = CertManagerSpec(issuer_ref=IssuerRef(name="jwt-ca"))


def an_auth_spec(interval: str | None = "720h", retain: str | None = "25h", **local: Any) -> AuthSpec:
    keys = SigningKeysSpec(cert_manager=ISSUER, rotation_interval=interval, retain_duration=retain)
    admin = AdminSpec(password=SecretKeySelector(name="admin-credentials", key="password"))
    described: dict[str, Any] = {"admin": admin, "signing_keys": keys, **local}
    return AuthSpec(enabled=True, local=LocalAuthSpec(**described))


def a_key(number: int = 1, phase: str = "Active", **fields: Any) -> SigningKeyStatus:
    described: dict[str, Any] = {
        "created_at": NOON - DAY,
        "observed_public_key_fingerprint": f"fp{number}",
        "algorithm": "ECDSA",
        "size": 384,
        **fields,
    }
    return SigningKeyStatus(
        id=signing_key_id(number),
        secret_name=signing_key_name("inst", number),
        phase=phase,  # type: ignore[arg-type]
        **described,
    )


def keys_status(*keys: SigningKeyStatus, counter: int | None = None, **fields: Any) -> AuthStatus:
    return AuthStatus(
        signing_keys=list(keys), signing_key_generation=len(keys) if counter is None else counter, **fields
    )


def issued_key(number: int = 1, *, made: datetime = NOON, asked: datetime = NOON, **secret: Any) -> Issued:
    name = signing_key_name("inst", number)
    certificate = IssuedCertificate(uid=f"certificate-{number}", created_at=asked, generation=2, ready_generation=2)
    described: dict[str, Any] = {
        "filled": frozenset({KEY_PRIVATE_KEY}),
        "issued_for": name,
        "public_key": f"fp{number}",
        **secret,
    }
    return Issued(certificate=certificate, secret=IssuedSecret(uid=f"secret-{number}", created_at=made, **described))


def all_issued(*numbers: int) -> dict[str, Issued]:
    return {signing_key_name("inst", number): issued_key(number) for number in numbers}


def holding(*numbers: int, name: str = "sales", may_run: bool = True) -> EngineKeys:
    keys = tuple(HeldKey(signing_key_id(number), f"fp{number}") for number in numbers)
    return EngineKeys(name=name, generations=(GenerationKeys(keys=keys, may_run=may_run),))


def a_fleet(*engines: EngineKeys, is_live: bool = True, problem: str = "") -> Fleet:
    return Fleet(engines=engines, is_live=is_live, problem=problem)


def a_situation(status: AuthStatus | None = None, **fields: Any) -> AuthSituation:
    described: dict[str, Any] = {
        "spec": an_auth_spec(),
        "now": NOON,
        "fleet": a_fleet(),
        "issued": all_issued(1, 2),
        **fields,
    }
    described["spec_problem"] = aggregate(check_auth(described["spec"], partial(is_protected, protected=())))
    return AuthSituation(instance="inst", status=status, **described)
