"""What engines learn about authentication, and how signing keys are asked for; whole objects are in golden/."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from firebolt_local.standins.engine.auth.config import Auth, check_auth
from firebolt_operator.api.auth import (
    AuthSpec,
    DiscoverySpec,
    ExchangeServer,
    JitProvisioning,
    JwksSpec,
    LocalAuthSpec,
    MappedRole,
    OIDCJwtSpec,
    OIDCProvider,
    OIDCSpec,
    RoleMapping,
    TargetServer,
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


TWO_HOPS = OIDCProvider(
    name="partner",
    target=TargetServer(discovery_url="https://login.example.com/d", token_endpoint_auth_method="none"),
    exchange=ExchangeServer(discovery_url="https://exchange.example.com/d"),
    username_mapping="{{ iss }}|{{ sub }}",
    role_mapping=RoleMapping(
        claim="groups", map=[MappedRole(value="writers", role="writer"), MappedRole(value="analysts", role="reader")]
    ),
)
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


IN_TWO_HOPS = msgspec.structs.replace(an_auth_spec(), oidc=OIDCSpec(providers=[TWO_HOPS]))


@pytest.mark.parametrize(
    ("name", "spec"), [("minimal.yaml", an_auth_spec()), ("full.yaml", FULL), ("two_hops.yaml", IN_TWO_HOPS)]
)
def test_what_an_engine_gets_is_what_is_written_down(name: str, spec: AuthSpec) -> None:
    assert rendered(spec) == yaml.load((GOLDEN / name).read_text(), yaml.CSafeLoader)


def test_signing_keys_are_asked_for_as_it_is_written_down() -> None:
    long_lived = msgspec.structs.replace(ISSUER, duration="48h")
    found = [
        signing_certificate(an_instance(), a_key(1), ISSUER, is_new=False),
        signing_certificate(an_instance(), a_key(2, algorithm="RSA", size=4096), long_lived, is_new=False),
    ]
    assert found == list(yaml.load_all((GOLDEN / "certificates.yaml").read_text(), yaml.CSafeLoader))


def test_a_key_that_nobody_has_seen_yet_is_made_and_never_found() -> None:
    seen, unseen = (signing_certificate(an_instance(), a_key(1), ISSUER, is_new=is_new) for is_new in (False, True))
    assert unseen["spec"]["privateKey"].pop("rotationPolicy") == "Always"
    assert seen["spec"]["privateKey"].pop("rotationPolicy") == "Never"
    assert seen == unseen


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


def with_provider(provider: OIDCProvider) -> AuthSpec:
    return msgspec.structs.replace(an_auth_spec(), oidc=OIDCSpec(providers=[provider]))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"target": TargetServer(discovery_url="https://login.example.com/other")}, id="target"),
        pytest.param({"target": TargetServer(discovery_url="https://login.example.com/d")}, id="how-clients-prove"),
        pytest.param({"exchange": None}, id="exchange"),
        pytest.param({"role_mapping": None}, id="roles"),
        pytest.param({"role_mapping": RoleMapping(map=[MappedRole(value="a", role="b")])}, id="other-roles"),
    ],
)
def test_another_server_or_another_table_of_roles_rolls_engines(change: dict[str, Any]) -> None:
    other = msgspec.structs.replace(TWO_HOPS, **change)
    assert auth_hash(with_provider(other), KEYS, "41") != auth_hash(with_provider(TWO_HOPS), KEYS, "41")
    assert rendered(with_provider(other))["config"] != rendered(with_provider(TWO_HOPS))["config"]


def test_what_is_not_set_of_a_provider_is_left_out() -> None:
    """An engine refuses empty texts, and objects without anything."""
    short = OIDCProvider(
        name="partner",
        target=TargetServer(discovery_url="https://login.example.com/d"),
        username_mapping="{{ sub }}",
        role_mapping=RoleMapping(map=[MappedRole(value="a", role="b")]),
    )
    (provider,) = rendered(with_provider(short))["config"]["instance"]["auth"]["oidc"]["providers"]
    assert provider == {
        "name": "partner",
        "target": {"discovery_url": "https://login.example.com/d"},
        "username_mapping": "{{ sub }}",
        "role_mapping": {"map": [{"value": "a", "role": "b"}]},
    }


def test_the_stand_in_engine_understands_it() -> None:
    auth = rendered(IN_TWO_HOPS)["config"]["instance"]["auth"]
    understood = msgspec.convert(auth, Auth)
    check_auth(understood)
    assert understood.providers[0].trusted_discovery_url == "https://exchange.example.com/d"
