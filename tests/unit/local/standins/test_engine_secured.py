"""With TLS and authentication an engine keeps the contract that clients, gateway, probes and the operator rely on."""

import asyncio
import signal
import ssl
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from firebolt_local.cluster.pki import Subject
from firebolt_local.standins.engine.auth.users import USER_HEADER
from tests.support.standins.programs import EngineProcess, Place, ended, eventually, running_engine
from tests.support.standins.secured import HOST, PASSWORD, RESOURCE, Secured
from tests.unit.local.standins.conftest import MetadataHealth

GRANT = {
    "grant_type": "client_credentials",
    "client_id": "firebolt",
    "client_secret": PASSWORD,
    "resource": RESOURCE,
}
QUERY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\nAuthorization: Bearer %s\r\n\r\nSELECT 1"
HANG_GUARD_SECONDS = 60.0


@pytest.fixture
def secured(tmp_path: Path) -> Secured:
    return Secured.made(tmp_path, {number: ec.generate_private_key(ec.SECP384R1()) for number in (2, 1)})


@pytest.fixture
async def engine(tmp_path: Path, secured: Secured, metadata_health: MetadataHealth) -> AsyncGenerator[EngineProcess]:
    patient = {"STANDIN_LAST_WORDS_SECONDS": "30"}
    async with running_engine(tmp_path, secured.document(metadata_health.port), environment=patient) as started:
        await eventually(started.is_ready, "the engine is ready")
        yield started


@pytest.fixture
async def client(secured: Secured, engine: EngineProcess) -> AsyncGenerator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(ssl=secured.client_context())
    async with aiohttp.ClientSession(f"https://{HOST}:{engine.query_port}", connector=connector) as session:
        yield session


async def a_token(client: aiohttp.ClientSession, **changed: str) -> tuple[int, dict[str, Any]]:
    form = {name: value for name, value in {**GRANT, **changed}.items() if value}
    async with client.post("/oauth/token", data=form) as response:
        return response.status, await response.json()


async def query(client: aiohttp.ClientSession, token: str) -> tuple[int, str]:
    async with client.post("/", data="SELECT 42", headers={"Authorization": f"Bearer {token}"}) as response:
        return response.status, await response.text()


async def test_the_live_contract(engine: EngineProcess, client: aiohttp.ClientSession, secured: Secured) -> None:
    async with client.get("/.well-known/firebolt") as response:
        described = (await response.json())["instance"]
    oauth = described["auth"]["oauth"]
    assert (described["id"], oauth["protectedResource"]["resource"]) == ("01JINSTANCE", RESOURCE)
    assert [server["name"] for server in oauth["authorizationServers"]] == ["_local"]
    async with client.post("/", data="SELECT 42") as response:
        assert response.status == 401
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert await a_token(client, client_secret="wrong") == (401, _any_words("invalid_client"))
    assert await a_token(client, client_id="ada") == (401, _any_words("invalid_client"))
    assert await a_token(client, resource="") == (400, _any_words("invalid_request"))
    assert await a_token(client, resource=f"{RESOURCE}X") == (400, _any_words("invalid_target"))
    assert await a_token(client, grant_type="password") == (400, _any_words("unsupported_grant_type"))
    status, given = await a_token(client)
    assert (status, given["token_type"], given["expires_in"]) == (200, "Bearer", 3600)
    token = given["access_token"]
    assert jwt.get_unverified_header(token)["kid"] == "signing-2"
    assert (await query(client, token))[0] == 200
    assert (await query(client, token[:-8]))[0] == 401
    by_the_other = jwt.encode(
        jwt.decode(token, options={"verify_signature": False}), secured.keys[1], "ES384", headers={"kid": "signing-1"}
    )
    async with client.post("/", data="SELECT 42", headers={"Authorization": f"Bearer {by_the_other}"}) as response:
        assert (response.status, response.headers[USER_HEADER]) == (200, "firebolt")
    async with client.get("/oauth/jwks") as response:
        assert [key["kid"] for key in (await response.json())["keys"]] == ["signing-2", "signing-1"]
    assert PASSWORD not in engine.log.read_text()


async def test_given_tls_then_the_port_takes_nothing_else_and_probes_and_scrapes_stay_plain(
    engine: EngineProcess, client: aiohttp.ClientSession
) -> None:
    strict = aiohttp.ClientSession(f"https://{HOST}:{engine.query_port}")
    async with strict as stranger:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await stranger.get("/.well-known/firebolt")
    with pytest.raises(aiohttp.ClientError):
        await engine.sql("SELECT 1")
    assert await engine.health("/health/ready") == 200
    assert await engine.measure("firebolt_running_queries") == 0
    async with client.get("/health/ready") as response:  # as Envoy's active health check does, without a token
        assert response.status == 200


async def test_given_new_files_then_nothing_is_read_again(
    engine: EngineProcess, client: aiohttp.ClientSession, secured: Secured
) -> None:
    _, given = await a_token(client)
    other = ec.generate_private_key(ec.SECP384R1())
    changed = Secured.made(secured.folder / "other", {2: other, 1: other})
    changed.document(1)
    for path in ("secrets/auth/signing/signing-2/tls.key", "secrets/tls/engine/tls.key"):
        (secured.folder / path).write_text((changed.folder / path).read_text())
    (secured.folder / "secrets/auth/admin/password").write_text("another")
    await client.post("/", data="x", headers={"Connection": "close"})
    assert (await query(client, given["access_token"]))[0] == 200
    assert (await a_token(client))[0] == 200
    assert (await a_token(client, client_secret="another"))[0] == 401
    assert engine.process.returncode is None


async def test_given_a_certificate_for_other_names_then_the_engine_does_not_believe_itself(
    tmp_path: Path, secured: Secured, metadata_health: MetadataHealth
) -> None:
    document = secured.document(metadata_health.port)
    secured.mount_certificate(secured.authority.issue("elsewhere", Subject("engine", hosts=["elsewhere"])))
    assert "certificate verify failed" in await _first_complaint(tmp_path, document)


async def test_given_a_certificate_without_its_authority_then_the_engine_does_not_believe_itself(
    tmp_path: Path, secured: Secured, metadata_health: MetadataHealth
) -> None:
    document = secured.document(metadata_health.port)
    pair = secured.authority.issue("engine", Subject("engine", hosts=[HOST]))
    secured.mount_certificate(pair, has_authority=False)
    assert "certificate verify failed" in await _first_complaint(tmp_path, document)


async def test_given_a_query_behind_a_handshake_when_told_to_stop_then_it_is_answered(
    engine: EngineProcess, client: aiohttp.ClientSession, secured: Secured
) -> None:
    """A client's last flight and its query leave together: whoever hangs up before them leaves it in doubt."""
    _, given = await a_token(client)
    await client.close()
    await engine.session.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", engine.query_port)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = secured.client_context().wrap_bio(incoming, outgoing, server_hostname=HOST)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    writer.write(outgoing.read())
    while True:
        incoming.write(await reader.read(65_536))
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            continue
    engine.process.send_signal(signal.SIGTERM)

    async def is_closed() -> bool:
        return not _listens(engine.query_port)

    await eventually(is_closed, "nobody new is let in")
    tls.write(QUERY % given["access_token"].encode())
    writer.write(outgoing.read())
    answer = b""
    async with asyncio.timeout(HANG_GUARD_SECONDS):
        while b"shutting down" not in answer:
            data = await reader.read(65_536)
            assert data, "hung up without an answer"
            incoming.write(data)
            with suppress(ssl.SSLWantReadError):
                answer += tls.read(65_536)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"X-Firebolt-Drained: true" in answer
    assert await ended(engine.process) == 0


def _any_words(error: str) -> Any:
    class Described:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, dict) and other["error"] == error and bool(other["error_description"])

        __hash__ = None  # type: ignore[assignment]

    return Described()


def _listens(port: int) -> bool:
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port for row in rows)


async def _first_complaint(folder: Path, document: dict[str, Any]) -> str:
    async with running_engine(folder, document, place=Place.free()) as engine:

        async def has_complained() -> bool:
            return f"waiting for node {HOST}" in engine.log.read_text()

        await eventually(has_complained, "the engine looks at itself")
        assert await engine.health("/health/ready") == 503
        return engine.log.read_text()
