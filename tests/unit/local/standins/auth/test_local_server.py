"""An engine gives tokens to who knows the password, and believes them for as long as it says, and no others."""

from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from firebolt_local.standins.engine.auth.local_server import LocalServer, resource_of
from firebolt_local.standins.engine.auth.signing_keys import PrivateKey, SigningKeys
from firebolt_local.standins.engine.auth.tokens import Limits, TokenError, peek

NOW = 1_800_000_000.0
OLD, NEW, STRANGE = (ec.generate_private_key(ec.SECP384R1()) for _ in range(3))
RESOURCE = resource_of("01JINSTANCE")
LIMITS = Limits(most_age=timedelta(hours=2), skew=timedelta(seconds=30))


def a_server(keys: dict[str, PrivateKey] | None = None, algorithm: str = "ES384", **fields: Any) -> LocalServer:
    described: dict[str, Any] = {
        "resource": RESOURCE,
        "admin": "firebolt",
        "password": "secret",
        "keys": SigningKeys(algorithm, keys or {"signing-2": NEW, "signing-1": OLD}),
        "lifetime": timedelta(hours=1),
        "limits": LIMITS,
        **fields,
    }
    return LocalServer(**described)


def name_at(server: LocalServer, token: str, now: float) -> str:
    return server.user(token, peek(token), now=now).name


def forged(key: PrivateKey = NEW, key_id: str = "signing-2", algorithm: str = "ES384", **claims: Any) -> str:
    usual = {"iss": RESOURCE, "aud": RESOURCE, "sub": "firebolt", "iat": NOW, "exp": NOW + 60}
    kept = {name: value for name, value in {**usual, **claims}.items() if value is not None}
    return jwt.encode(kept, key, algorithm, headers={"kid": key_id})


def test_given_the_right_password_then_only_then_somebody_is_admitted() -> None:
    server = a_server()
    assert server.admits("firebolt", "secret")
    assert not server.admits("firebolt", "Secret")
    assert not server.admits("firebolt", "")
    assert not server.admits("somebody", "secret")


def test_given_a_token_then_the_first_key_has_signed_it_for_this_instance() -> None:
    token = a_server().token("firebolt", now=NOW)
    assert jwt.get_unverified_header(token) == {"alg": "ES384", "typ": "JWT", "kid": "signing-2"}
    claims = jwt.decode(
        token, NEW.public_key(), ["ES384"], options={"verify_exp": False, "verify_iat": False}, audience=RESOURCE
    )
    assert (claims["iss"], claims["sub"]) == (RESOURCE, "firebolt")
    assert claims["exp"] - claims["iat"] == 3600


def test_given_a_token_of_the_key_before_then_it_is_believed_as_long_as_that_key_is_held() -> None:
    token = a_server({"signing-1": OLD}).token("firebolt", now=NOW)
    assert name_at(a_server(), token, NOW) == "firebolt"
    with pytest.raises(TokenError, match="no key signing-1"):
        name_at(a_server({"signing-2": NEW}), token, NOW)


@pytest.mark.parametrize(
    ("lifetime", "lasts", "problem"),
    [
        pytest.param(timedelta(hours=1), 3600 + 30, "expired", id="until-it-expires"),
        pytest.param(timedelta(hours=9), 7200 + 30, "too old", id="until-its-greatest-age"),
    ],
)
def test_given_time_then_a_token_is_believed_to_the_last_moment(
    lifetime: timedelta, lasts: float, problem: str
) -> None:
    server = a_server(lifetime=lifetime)
    token = server.token("firebolt", now=NOW)
    assert name_at(server, token, NOW + lasts - 0.001) == "firebolt"
    with pytest.raises(TokenError, match=problem):
        name_at(server, token, NOW + lasts)


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        pytest.param("nonsense", "not a token", id="nonsense"),
        pytest.param(forged(STRANGE), "Signature verification failed", id="another-key-under-a-known-id"),
        pytest.param(forged(key_id="signing-9"), "no key signing-9", id="an-unknown-id"),
        pytest.param(forged(iss="https://elsewhere"), "Invalid issuer", id="another-issuer"),
        pytest.param(forged(aud="https://elsewhere"), "Audience doesn't match", id="another-audience"),
        pytest.param(forged(sub="mallory"), "no such user", id="another-user"),
        pytest.param(forged(exp=None), 'missing the "exp" claim', id="no-end"),
        pytest.param(forged(exp="soon"), "exp is no instant", id="an-end-that-is-no-instant"),
        pytest.param(forged(iat=NOW + 31), "not valid yet", id="from-the-future"),
        pytest.param(forged(nbf=NOW + 31), "not valid yet", id="for-later"),
        pytest.param(
            forged(rsa.generate_private_key(65537, 2048), algorithm="RS256"), "alg.*not allowed", id="another-algorithm"
        ),
        pytest.param(jwt.encode({"iss": RESOURCE}, "", "none", headers={"kid": "signing-2"}), "alg", id="unsigned"),
    ],
)
def test_given_anything_else_then_it_is_not_believed(token: str, problem: str) -> None:
    with pytest.raises(TokenError, match=problem):
        name_at(a_server(), token, NOW)
    assert name_at(a_server(), forged(iat=NOW + 30), NOW) == "firebolt"


def test_given_keys_then_their_public_halves_are_published_and_nothing_else() -> None:
    published = a_server().keys.published()["keys"]
    assert [key["kid"] for key in published] == ["signing-2", "signing-1"]
    assert [set(key) for key in published] == [{"kty", "crv", "x", "y", "kid", "use", "alg"}] * 2
    checked = jwt.decode(
        forged(), jwt.PyJWK(published[0]), audience=RESOURCE, options={"verify_exp": False, "verify_iat": False}
    )
    assert checked["sub"] == "firebolt"
    rsa_key = a_server({"signing-1": rsa.generate_private_key(65537, 2048)}, "RS512").keys.published()["keys"][0]
    assert set(rsa_key) - {"key_ops"} == {"kty", "n", "e", "kid", "use", "alg"}
