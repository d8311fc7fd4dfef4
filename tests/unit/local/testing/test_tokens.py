"""Does a client that verifies certificates and logs in lose nothing while its tokens come and go?"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec

from firebolt_local.cluster.pki import Authority, Subject
from firebolt_local.standins.engine.auth import endpoints
from firebolt_local.standins.engine.auth.config import AdminUser, Auth, LocalUsers, SigningKey
from firebolt_local.standins.engine.auth.gate import Gate
from firebolt_local.standins.engine.auth.local_server import LocalServer, resource_of
from firebolt_local.standins.engine.auth.signing_keys import SigningKeys
from firebolt_local.standins.engine.auth.tokens import Limits
from firebolt_local.testing.load import NO_ANSWER, Plan, ask, client_session, steady_load
from firebolt_local.testing.tokens import Login, LoginError, Tokens
from kubectl_firebolt.picture.answers import Answer

SECONDS = 90
KEY = ec.generate_private_key(ec.SECP384R1())


@dataclass
class Engine:
    """The stand-in's own login behind TLS, in this process, with a clock that the test moves."""

    plan: Plan
    now: float = 0.0
    is_giving: bool = True
    seen: set[str] = field(default_factory=set[str])

    def clock(self) -> float:
        return self.now

    def login(self, password: str = "secret") -> Login:
        return Login(url=self.plan.url, engine="sales", password=password)


@asynccontextmanager
async def an_engine(folder: Path) -> AsyncGenerator[Engine]:
    authority = Authority(folder)
    pair = authority.issue("engine", Subject("engine", hosts=["localhost"]))
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(pair.certificate, pair.key)
    trust = ssl.create_default_context(cafile=str(authority.pair.certificate))
    engine = Engine(Plan(url="", engine="sales", tls=trust))
    runner = web.AppRunner(_app(engine), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server_side).start()
        engine.plan = replace(engine.plan, url=f"https://localhost:{runner.addresses[0][1]}/")
        yield engine
    finally:
        await runner.cleanup()


def _app(engine: Engine) -> web.Application:
    local = LocalServer(
        resource=resource_of("01J"),
        admin="firebolt",
        password="secret",
        keys=SigningKeys("ES384", {"signing-1": KEY}),
        lifetime=timedelta(seconds=SECONDS),
        limits=Limits(timedelta(days=1), timedelta()),
    )
    auth = Auth(
        enabled=True,
        admin=AdminUser(password_file="x"),
        local=LocalUsers(signing_keys=[SigningKey(id="signing-1", private_key_path="x")]),
    )
    gate, give = Gate(local, clock=engine.clock), endpoints.token_handler(local, engine.clock)

    async def answer(request: web.Request) -> web.Response:
        engine.seen.add(request.headers.get("Authorization", ""))
        return await gate.let_in(request) or web.Response(text="42")

    async def token(request: web.Request) -> web.StreamResponse:
        return await give(request) if engine.is_giving else web.Response(status=503)

    app = web.Application()
    app.router.add_post("/", answer)
    app.router.add_post(endpoints.TOKEN_PATH, token)
    app.router.add_get(endpoints.DESCRIPTION_PATH, endpoints.description_handler("01J", auth, local.resource))
    return app


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[Engine]:
    async with an_engine(tmp_path / "ca") as started:
        yield started


async def test_given_tokens_that_end_then_they_are_renewed_and_nothing_is_lost(engine: Engine) -> None:
    async with client_session(engine.plan) as session:
        tokens, answers = Tokens(session, engine.login(), engine.clock), list[Answer]()
        for _ in range(2 * SECONDS):
            answers.append(await ask(session, engine.plan, clock=engine.clock, tokens=tokens))
            engine.now += 1
    assert [answer.problem for answer in answers if not answer.is_good] == []
    assert tokens.given == len(engine.seen) == 3  # each is used for a minute


async def test_given_a_login_then_every_query_of_a_load_carries_a_token(engine: Engine) -> None:
    async with steady_load(replace(engine.plan, login=engine.login())) as load:
        await _until(lambda: len(load.answers) >= 5)
    assert [answer.problem for answer in load.answers if not answer.is_good] == []
    assert len(engine.seen) == 1


async def test_given_many_queries_at_once_then_they_log_in_once(engine: Engine) -> None:
    async with client_session(engine.plan) as session:
        tokens = Tokens(session, engine.login(), engine.clock)
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(tokens.current()) for _ in range(20)]
        assert len({each.result() for each in asked}) == tokens.given == 1


async def test_given_a_login_that_fails_then_the_last_token_is_used_until_it_ends(engine: Engine) -> None:
    async with client_session(engine.plan) as session:
        tokens = Tokens(session, engine.login(), engine.clock)
        first = await tokens.current()
        engine.is_giving = False
        engine.now = SECONDS - 1
        assert await tokens.current() == first
        engine.now = SECONDS
        with pytest.raises(LoginError, match="HTTP 503"):
            await tokens.current()


async def test_given_no_token_no_password_or_no_authority_then_the_answer_says_so(engine: Engine) -> None:
    async with client_session(engine.plan) as session:
        refused = await ask(session, engine.plan, clock=engine.clock)
        assert (refused.status, refused.is_good) == (401, False)
        tokens = Tokens(session, engine.login("wrong"), engine.clock)
        outside = await ask(session, engine.plan, clock=engine.clock, tokens=tokens)
        assert outside.status == NO_ANSWER
        assert "invalid_client" in outside.problem
    async with client_session(replace(engine.plan, tls=None)) as session:
        doubting = await ask(session, engine.plan, clock=engine.clock)
        assert doubting.status == NO_ANSWER
        assert aiohttp.ClientConnectorCertificateError.__name__ in doubting.problem


async def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - the load has no event for it
        await asyncio.sleep(0.001)
