"""An engine believes the tokens of a provider that it reaches over HTTPS, beside its own, and nobody else's."""

import ssl
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import msgspec
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa

from firebolt_local.cluster.pki import Authority, Subject
from firebolt_local.standins.engine.auth.signing_keys import SigningKeys
from firebolt_local.standins.engine.auth.users import ROLES_HEADER, USER_HEADER
from firebolt_operator.api.auth import JitProvisioning, OIDCProvider, OIDCSpec
from tests.support.auth import an_auth_spec
from tests.support.standins.programs import EngineProcess, eventually, running_engine
from tests.support.standins.secured import RESOURCE, Secured
from tests.unit.local.standins.conftest import MetadataHealth

KEY, STRANGE = (rsa.generate_private_key(65537, 2048) for _ in range(2))


@dataclass
class IdentityProvider:
    url: str
    authority: Path

    def token(self, key: rsa.RSAPrivateKey = KEY, **claims: Any) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "aud": RESOURCE, "sub": "ada", "iat": now, "exp": now + 600}
        return jwt.encode({**usual, **claims}, key, "RS256", headers={"kid": "one"})


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncGenerator[IdentityProvider]:
    authority = Authority(tmp_path / "provider")
    pair = authority.issue("provider", Subject("provider", hosts=["localhost"]))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.certificate, pair.key)
    found = IdentityProvider("", authority.pair.certificate)

    async def describe(_: web.Request) -> web.Response:
        return web.json_response({"issuer": found.url, "jwks_uri": f"{found.url}/keys"})

    async def publish(_: web.Request) -> web.Response:
        return web.json_response(SigningKeys("RS256", {"one": KEY}).published())

    app = web.Application()
    app.router.add_get("/.well-known/openid-configuration", describe)
    app.router.add_get("/keys", publish)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    found.url = f"https://localhost:{runner.addresses[0][1]}"
    yield found
    await runner.cleanup()


@pytest.fixture
async def engine(
    tmp_path: Path, metadata_health: MetadataHealth, provider: IdentityProvider
) -> AsyncGenerator[EngineProcess]:
    """Without TLS of its own: one thing at a time."""
    okta = OIDCProvider(
        name="okta",
        discovery_url=f"{provider.url}/.well-known/openid-configuration",
        username_mapping="{{ sub }}@okta",
        jit_provisioning=JitProvisioning(enabled=True, default_roles=["analyst"]),
    )
    spec = msgspec.structs.replace(
        an_auth_spec(), oidc=OIDCSpec(providers=[okta]), preferred_authorization_server="okta"
    )
    document = Secured.made(tmp_path).document(metadata_health.port, spec=spec, has_tls=False)
    trusting = {"SSL_CERT_FILE": str(provider.authority)}
    async with running_engine(tmp_path, document, environment=trusting) as started:
        await eventually(started.is_ready, "the engine is ready")
        yield started


async def answer_to(engine: EngineProcess, token: str) -> aiohttp.ClientResponse:
    async with engine.session.post(
        engine.url, data="SELECT 1", headers={"Authorization": f"Bearer {token}"}
    ) as response:
        await response.read()
        return response


async def test_given_a_providers_token_then_its_user_is_let_in_and_nobody_elses(
    engine: EngineProcess, provider: IdentityProvider
) -> None:
    async with engine.session.get(f"{engine.url}.well-known/firebolt") as response:
        oauth = (await response.json())["instance"]["auth"]["oauth"]
    assert [server["name"] for server in oauth["authorizationServers"]] == ["_local", "okta"]
    assert oauth["preferredAuthorizationServer"] == "okta"
    answered = await answer_to(engine, provider.token())
    assert (answered.status, answered.headers[USER_HEADER], answered.headers[ROLES_HEADER]) == (
        200,
        "ada@okta",
        "analyst",
    )
    for refused in (
        provider.token(STRANGE),
        provider.token(iss="https://elsewhere.example.com"),
        provider.token(iss=RESOURCE),
        provider.token(aud="https://elsewhere.example.com"),
        provider.token(exp=int(time.time()) - 3600),
    ):
        assert (await answer_to(engine, refused)).status == 401
