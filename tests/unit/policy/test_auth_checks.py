"""Which authentication settings are refused, where, and in which words?"""

from typing import Any

import msgspec
import pytest

from firebolt_operator.api.auth import AuthSpec
from firebolt_operator.policy.auth_checks import check_auth, check_auth_update
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import AUTH, paths

RETAIN = "spec.auth.local.signingKeys.retainDuration"
SIZE = "spec.auth.local.signingKeys.certManager.size"
ALGORITHM = "spec.auth.local.signingAlgorithm"
NEIGHBOURS = "other-auth-signing"
MAPPING = "spec.auth.oidc.providers[{}].usernameMapping"


def an_auth(*, key: Any = None, keys: Any = None, **local: Any) -> AuthSpec:
    """Enabled and complete, but for what is given: of the key, of the signing keys, of the local part."""
    signing = {"certManager": {"issuerRef": {"name": "ca"}, **(key or {})}, **(keys or {})}
    return msgspec.convert({"enabled": True, "local": {**AUTH["local"], "signingKeys": signing, **local}}, AuthSpec)


def a_provider(name: str = "okta", mapping: str = "{{ email }}", **fields: Any) -> Manifest:
    return {"name": name, "discoveryURL": "https://idp.example.com", "usernameMapping": mapping, **fields}


def with_oidc(*providers: Manifest, jwt: Manifest | None = None, **auth: Any) -> AuthSpec:
    oidc: Manifest = {"providers": list(providers)} | ({"jwt": jwt} if jwt else {})
    return msgspec.convert({**AUTH, "oidc": oidc, **auth}, AuthSpec)


def is_ours(name: str) -> bool:
    return name == NEIGHBOURS


def a_spec(document: Manifest) -> AuthSpec:
    return msgspec.convert(document, AuthSpec)


@pytest.mark.parametrize(
    "auth",
    [
        pytest.param(None, id="absent"),
        pytest.param(a_spec({"enabled": False}), id="off"),
        pytest.param(a_spec(AUTH), id="complete"),
        pytest.param(an_auth(signingAlgorithm="ES256", key={"size": 256}), id="es256"),
        pytest.param(an_auth(signingAlgorithm="ES384", key={"size": 384}), id="es384"),
        pytest.param(an_auth(signingAlgorithm="ES512", key={"size": 521}), id="es512"),
        pytest.param(an_auth(key={"size": 0}), id="size-zero-is-the-default"),
        *(
            pytest.param(an_auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": size}), id=f"rsa-{size}")
            for size in (2048, 4096, 8192)
        ),
        pytest.param(an_auth(tokenExpiry="1h", maxTokenAge="1d", clockSkewTolerance="30s"), id="durations"),
        pytest.param(an_auth(clockSkewTolerance="0s"), id="no-skew"),
        pytest.param(an_auth(keys={"rotationInterval": "720h", "retainDuration": "24h0m30s"}), id="least-retention"),
        pytest.param(
            an_auth(keys={"rotationInterval": "720h", "retainDuration": "24h"}, clockSkewTolerance="0s"),
            id="least-retention-without-skew",
        ),
        pytest.param(with_oidc(a_provider(), preferredAuthorizationServer="okta"), id="prefers-a-provider"),
        pytest.param(with_oidc(a_provider(), preferredAuthorizationServer="_local"), id="prefers-itself"),
        pytest.param(
            with_oidc(a_provider(jwks={"cacheTTL": "1d"}, discovery={"refreshInterval": "1d"})), id="provider-durations"
        ),
        pytest.param(
            with_oidc(
                a_provider(
                    discoveryURL=None,
                    target={"discoveryURL": "https://login.example.com"},
                    exchange={"discoveryURL": "https://exchange.example.com"},
                    roleMapping={"map": [{"value": "a", "role": "b"}]},
                )
            ),
            id="two-hops-and-roles",
        ),
        *(
            pytest.param(with_oidc(a_provider("a", mapping), a_provider("b", mapping)), id=f"two-with-{mapping}")
            for mapping in ("{{ iss }}|{{ sub }}", "{{iss}}|{{sub}}", "{{  iss  }}-{{ email }}")
        ),
    ],
)
def test_accepted(auth: AuthSpec | None) -> None:
    assert aggregate(check_auth(auth, is_ours)) == ""


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        pytest.param(
            a_spec(
                {**AUTH, "enabled": False, "oidc": {"providers": [a_provider()]}, "preferredAuthorizationServer": "x"}
            ),
            ["spec.auth.local", "spec.auth.oidc", "spec.auth.preferredAuthorizationServer"],
            id="off-with-leftovers",
        ),
        pytest.param(a_spec({"enabled": True}), ["spec.auth.local"], id="nothing-local"),
        pytest.param(
            an_auth(admin={"password": {"name": "", "key": ""}}),
            ["spec.auth.local.admin.password.name", "spec.auth.local.admin.password.key"],
            id="no-password",
        ),
        pytest.param(
            an_auth(admin={"password": {"name": NEIGHBOURS, "key": "tls.key"}}),
            ["spec.auth.local.admin.password.name"],
            id="a-password-of-ours",
        ),
        pytest.param(an_auth(signingKeys=None), ["spec.auth.local.signingKeys"], id="no-signing-keys"),
        pytest.param(an_auth(signingAlgorithm="RS256"), [ALGORITHM], id="rs256-with-ecdsa"),
        pytest.param(
            an_auth(signingAlgorithm="ES256", key={"algorithm": "RSA", "size": 2048}), [ALGORITHM], id="es256-with-rsa"
        ),
        pytest.param(an_auth(signingAlgorithm="ES256"), [SIZE], id="es256-with-the-default-size"),
        pytest.param(an_auth(signingAlgorithm="ES512", key={"size": 384}), [SIZE], id="es512-with-384"),
        pytest.param(
            an_auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": 384}), [SIZE], id="rsa-of-a-curves-size"
        ),
        pytest.param(an_auth(key={"size": 2048}), [SIZE, SIZE], id="a-curve-of-rsa-size"),
        *(
            pytest.param(
                an_auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": size}), [SIZE], id=f"rsa-{size}"
            )
            for size in (1024, 3072, 6144, 8193)
        ),
        pytest.param(
            with_oidc(a_provider(), preferredAuthorizationServer="no-such-provider"),
            ["spec.auth.preferredAuthorizationServer"],
            id="prefers-nobody",
        ),
        pytest.param(an_auth(tokenExpiry="1hr"), ["spec.auth.local.tokenExpiry"], id="expiry-malformed"),
        pytest.param(an_auth(tokenExpiry="0s"), ["spec.auth.local.tokenExpiry"], id="expiry-zero"),
        pytest.param(an_auth(maxTokenAge="-1d"), ["spec.auth.local.maxTokenAge"], id="age-negative"),
        pytest.param(
            with_oidc(a_provider(), jwt={"clockSkewTolerance": "not-a-duration", "maxTokenAge": "-1h"}),
            ["spec.auth.oidc.jwt.clockSkewTolerance", "spec.auth.oidc.jwt.maxTokenAge"],
            id="jwt-durations",
        ),
        *(
            pytest.param(
                with_oidc(a_provider(discovery={"refreshInterval": text})),
                ["spec.auth.oidc.providers[0].discovery.refreshInterval"],
                id=f"refresh-{text}",
            )
            for text in ("0s", "-1h")
        ),
        pytest.param(
            with_oidc(a_provider(mapping="{{ iss }}"), a_provider(mapping="{{ iss }}")),
            ["spec.auth.oidc.providers[1].name"],
            id="two-of-one-name",
        ),
        pytest.param(
            with_oidc(a_provider(target={"discoveryURL": "https://login.example.com"})),
            ["spec.auth.oidc.providers[0].target"],
            id="two-first-servers",
        ),
        pytest.param(
            with_oidc(a_provider(discoveryURL=None)), ["spec.auth.oidc.providers[0].target"], id="no-first-server"
        ),
        pytest.param(an_auth(keys={"rotationInterval": "720h"}), [RETAIN], id="rotation-without-retention"),
        pytest.param(an_auth(keys={"retainDuration": "24h"}), [RETAIN], id="retention-without-rotation"),
        *(
            pytest.param(an_auth(keys={"rotationInterval": "720h", "retainDuration": text}, **local), [RETAIN], id=name)
            for name, text, local in (
                ("retention-of-an-hour", "1h", {}),
                ("retention-shorter-than-a-token", "24h", {"maxTokenAge": "2d"}),
                ("retention-short-by-the-skew", "24h", {}),
                ("retention-short-by-a-longer-skew", "24h0m30s", {"clockSkewTolerance": "5m"}),
            )
        ),
        *(
            pytest.param(
                an_auth(keys={"rotationInterval": text, "retainDuration": "720h"}),
                ["spec.auth.local.signingKeys.rotationInterval"],
                id=f"rotation-{text}",
            )
            for text in ("0", "-1h")
        ),
        pytest.param(
            an_auth(keys={"rotationInterval": "often", "retainDuration": "720h"}),
            ["spec.auth.local.signingKeys.rotationInterval"],
            id="rotation-malformed",
        ),
        *(
            pytest.param(
                an_auth(keys={"rotationInterval": "720h", "retainDuration": "1h"}, maxTokenAge=age),
                [RETAIN, "spec.auth.local.maxTokenAge"],
                id=f"an-age-of-{age}-does-not-lower-the-floor",
            )
            for age in ("-1d", "0s")
        ),
        pytest.param(
            with_oidc(a_provider("a"), a_provider("b")), [MAPPING.format(0), MAPPING.format(1)], id="two-without-iss"
        ),
        *(
            pytest.param(
                with_oidc(a_provider("a", mapping), a_provider("b", "{{ iss }}")), [MAPPING.format(0)], id=mapping
            )
            for mapping in ("{{ swiss_id }}", "{{ dismissal }}", "{{ email }}@issuer.example.com", "iss", "{{ ISS }}")
        ),
        pytest.param(with_oidc(a_provider(mapping=" firebolt ")), [MAPPING.format(0)], id="the-administrators-name"),
    ],
)
def test_refused(auth: AuthSpec, expected: list[str]) -> None:
    assert paths(check_auth(auth, is_ours)) == expected


def test_words() -> None:
    assert aggregate(check_auth(an_auth(signingAlgorithm="RS256"), is_ours)) == (
        'spec.auth.local.signingAlgorithm: Invalid value: "RS256": requires signingKeys.certManager.algorithm=RSA,'
        ' got "ECDSA"'
    )
    assert aggregate(check_auth(an_auth(keys={"rotationInterval": "720h", "retainDuration": "24h"}), is_ours)) == (
        'spec.auth.local.signingKeys.retainDuration: Invalid value: "24h0m0s": must be at least maxTokenAge +'
        " clockSkewTolerance (24h0m30s)"
    )


ES256 = an_auth(signingAlgorithm="ES256", key={"size": 256})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(an_auth(), an_auth(), [], id="unchanged"),
        pytest.param(an_auth(), ES256, [ALGORITHM, SIZE], id="another-algorithm"),
        pytest.param(
            an_auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": 2048}),
            an_auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": 4096}),
            [SIZE],
            id="another-size",
        ),
        pytest.param(a_spec({"enabled": False}), ES256, [], id="turned-on"),
        pytest.param(None, ES256, [], id="added"),
        pytest.param(ES256, a_spec({"enabled": False}), [], id="turned-off"),
    ],
)
def test_what_cannot_be_changed_while_it_is_on(old: AuthSpec | None, new: AuthSpec, expected: list[str]) -> None:
    assert paths(check_auth_update(old, new)) == expected
