"""What is shown to the server, and when is it renewed?"""

import asyncio
import os
from pathlib import Path

import pytest

from firebolt_operator.errors import ConfigurationError, ForbiddenError
from firebolt_operator.kube.identity import TokenFile, basic
from firebolt_operator.kube.tls import ClientTls, Trust
from tests.unit.kube.wire import (
    SETTINGS,
    Request,
    Step,
    WireServer,
    a_client,
    a_config_map,
    an_identity,
    answer,
    status,
)

TLS = ClientTls(Trust(authorities=None))
UNAUTHORIZED = answer(401, status(401, "Unauthorized", "who are you"))


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.write_text("first\n")
    return path


def rotate(path: Path, content: str, *, modified_at: int) -> None:
    path.write_text(content)
    os.utime(path, (modified_at, modified_at))


async def shown(identity: TokenFile) -> str:
    return (await identity.proof()).authorization


async def test_a_token_file_is_read_again_when_it_changes(token: Path) -> None:
    clock = Clock()
    identity = TokenFile(token, TLS, clock=clock)
    assert await shown(identity) == "Bearer first"
    rotate(token, "second", modified_at=5)
    clock.now += 1
    assert await shown(identity) == "Bearer second"


async def test_a_token_file_is_not_looked_at_more_than_once_a_second(token: Path) -> None:
    clock = Clock()
    identity = TokenFile(token, TLS, clock=clock)
    await shown(identity)
    rotate(token, "second", modified_at=5)
    clock.now += 0.9
    assert await shown(identity) == "Bearer first"


async def test_a_token_file_is_read_again_after_a_minute_even_if_its_time_stands_still(token: Path) -> None:
    clock = Clock()
    rotate(token, "first", modified_at=5)
    identity = TokenFile(token, TLS, clock=clock)
    rotate(token, "second", modified_at=5)
    clock.now += 59
    assert await shown(identity) == "Bearer first"
    clock.now += 1
    assert await shown(identity) == "Bearer second"


async def test_given_a_file_that_is_gone_for_a_moment_then_the_old_token_serves(token: Path) -> None:
    clock = Clock()
    identity = TokenFile(token, TLS, clock=clock)
    token.unlink()  # noqa: ASYNC240
    clock.now += 100
    assert await shown(identity) == "Bearer first"


def test_given_no_file_at_the_start_then_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing-here: No such file"):
        TokenFile(tmp_path / "nothing-here", TLS)


def accepts(authorization: str) -> Step:
    async def step(request: Request, writer: asyncio.StreamWriter) -> None:
        granted = request.headers.get("authorization") == authorization
        chosen = answer(200, a_config_map()) if granted else UNAUTHORIZED
        await chosen(request, writer)

    return step


async def test_given_401_and_a_rotated_file_then_even_a_write_is_sent_again(token: Path) -> None:
    identity = TokenFile(token, TLS, clock=Clock())
    await identity.proof()
    rotate(token, "second", modified_at=5)
    async with WireServer(accepts("Bearer second")) as server, a_client(server.url, identity=identity) as client:
        assert await client.apply(a_config_map()) == a_config_map()
        assert len(server.requests) == 2


async def test_given_401_and_nothing_new_to_show_then_it_is_forbidden(token: Path) -> None:
    identity = TokenFile(token, TLS)
    async with WireServer(UNAUTHORIZED) as server, a_client(server.url, identity=identity) as client:
        with pytest.raises(ForbiddenError, match="who are you"):
            await client.get(SETTINGS)
        assert len(server.requests) == 1


async def test_a_password_is_shown_as_basic_authorization() -> None:
    identity = an_identity(basic("alice", "s3cret:x"))
    strict = accepts("Basic YWxpY2U6czNjcmV0Ong=")
    async with WireServer(strict) as server, a_client(server.url, identity=identity) as client:
        assert await client.get(SETTINGS) == a_config_map()
