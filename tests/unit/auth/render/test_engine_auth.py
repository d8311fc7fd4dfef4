"""What engines learn about authentication, and how signing keys are asked for; whole objects are in golden/."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from firebolt_operator.api.auth import (
    AuthSpec,
    DiscoverySpec,
    JitProvisioning,
    JwksSpec,
    LocalAuthSpec,
    OIDCJwtSpec,
    OIDCProvider,
    OIDCSpec,
)
from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.auth.render.auth_hash import auth_hash
from firebolt_operator.auth.render.engine_auth import EngineAuth, auth_annotations, auth_config, auth_mounts
from firebolt_operator.auth.render.signing_certificate import signing_certificate
from firebolt_operator.refs import Manifest
from tests.support.auth import ISSUER, a_key, an_auth_spec
from tests.support.gateways import an_instance

GOLDEN = Path(__file__).parent / "golden"
KEYS = (a_key(2), a_key(1, "ValidationOnly"))
PROVIDER = OIDCProvider(
    name="okta",
    discovery_url="https://idp.example.com/.well-known/openid-configuration",
    username_mapping="{{ iss }}|{{ sub }}",
)


def rendered(spec: AuthSpec) -> Manifest:
    assert spec.local is not None
    auth = EngineAuth(spec=spec, local=spec.local, keys=KEYS, admin_version="41")
    parts = {"config": auth_config(auth), "mounts": auth_mounts(auth), "annotations": auth_annotations(auth)}
    plain: Manifest = msgspec.json.decode(msgspec.json.encode(parts))
    return plain


FULL = msgspec.structs.replace(
    an_auth_spec(password_login="any_user", token_expiry="1h", max_token_age="1d", clock_skew_tolerance="30s"),
    preferred_authorization_server="okta",
    oidc=OIDCSpec(
        jwt=OIDCJwtSpec(clock_skew_tolerance="10s"),
        providers=[
            msgspec.structs.replace(
                PROVIDER,
                title="Okta",
                audience="firebolt",
                jit_provisioning=JitProvisioning(enabled=True, default_roles=["reader"]),
                jwks=JwksSpec(cache_ttl="1h"),
                discovery=DiscoverySpec(),
            ),
            msgspec.structs.replace(PROVIDER, name="entra"),
        ],
    ),
)


@pytest.mark.parametrize(("name", "spec"), [("minimal.yaml", an_auth_spec()), ("full.yaml", FULL)])
def test_what_an_engine_gets_is_what_is_written_down(name: str, spec: AuthSpec) -> None:
    assert rendered(spec) == yaml.load((GOLDEN / name).read_text(), yaml.CSafeLoader)


def test_signing_keys_are_asked_for_as_it_is_written_down() -> None:
    long_lived = msgspec.structs.replace(ISSUER, duration="48h")
    found = [
        signing_certificate(an_instance(), a_key(1), ISSUER),
        signing_certificate(an_instance(), a_key(2, algorithm="RSA", size=4096), long_lived),
    ]
    assert found == list(yaml.load_all((GOLDEN / "certificates.yaml").read_text(), yaml.CSafeLoader))


def with_local(**fields: Any) -> AuthSpec:
    spec = an_auth_spec()
    assert spec.local is not None
    return msgspec.structs.replace(spec, local=msgspec.structs.replace(spec.local, **fields))


def with_keys(**fields: Any) -> AuthSpec:
    local = an_auth_spec().local
    assert isinstance(local, LocalAuthSpec)
    assert local.signing_keys is not None
    return with_local(signing_keys=msgspec.structs.replace(local.signing_keys, **fields))


def asking(**fields: Any) -> CertManagerSpec:
    return msgspec.structs.replace(ISSUER, **fields)


@pytest.mark.parametrize(
    "other",
    [
        with_local(token_expiry="2h"),
        with_local(signing_algorithm="ES256"),
        with_keys(cert_manager=asking(duration="1h")),
        msgspec.structs.replace(an_auth_spec(), oidc=OIDCSpec(providers=[PROVIDER])),
    ],
)
def test_any_other_setting_rolls_engines(other: AuthSpec) -> None:
    assert auth_hash(other, KEYS, "41") != auth_hash(an_auth_spec(), KEYS, "41")


def test_how_often_keys_rotate_rolls_nobody() -> None:
    calm = with_keys(rotation_interval="1h", retain_duration="100h")
    assert auth_hash(calm, KEYS, "41") == auth_hash(an_auth_spec(), KEYS, "41")


@pytest.mark.parametrize(
    ("keys", "version"),
    [
        pytest.param((a_key(1), a_key(2)), "41", id="another-key-signs"),
        pytest.param((a_key(2),), "41", id="a-key-less"),
        pytest.param((a_key(2, observed_public_key_fingerprint="x"), KEYS[1]), "41", id="made-anew"),
        pytest.param(KEYS, "42", id="password"),
    ],
)
def test_other_keys_and_another_password_roll_engines(keys: Any, version: str) -> None:
    assert auth_hash(an_auth_spec(), keys, version) != auth_hash(an_auth_spec(), KEYS, "41")
    renewed = tuple(msgspec.structs.replace(key, demoted_at=key.created_at) for key in KEYS)
    assert auth_hash(an_auth_spec(), renewed, "41") == auth_hash(an_auth_spec(), KEYS, "41")


def test_an_empty_fingerprint_and_what_go_escapes_are_part_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text itself, since installations that exist carry the hash of it."""
    texts: list[str] = []

    def kept(text: str) -> str:
        texts.append(text)
        return ""

    monkeypatch.setattr("firebolt_operator.auth.render.auth_hash.content_hash", kept)
    asked = asking(duration="2160h", algorithm="ECDSA")
    spec = msgspec.structs.replace(with_keys(cert_manager=asked), preferred_authorization_server="a<b>&c")
    auth_hash(spec, (a_key(1, observed_public_key_fingerprint=""),), "41")
    expected = (
        '{"spec":{"enabled":true,"preferredAuthorizationServer":"a\\u003cb\\u003e\\u0026c","local":{"passwordLogin":'
        '"admin_only","admin":{"name":"firebolt","password":{"name":"admin-credentials","key":"password"}},'
        '"signingAlgorithm":"ES384","signingKeys":{"certManager":{"issuerRef":{"name":"jwt-ca","kind":"ClusterIssuer"},'
        '"algorithm":"ECDSA","size":384,"duration":"2160h0m0s"}}}},"signingKeys":[{"id":"signing-1",'
        '"secretName":"inst-auth-signing","publicKeyFP":""}],"adminSecretVersion":"41"}'
    )
    assert texts == [expected]
