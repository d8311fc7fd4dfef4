"""An engine's listener closes without a reset for those whom the kernel has let in already."""

import asyncio
import socket
from collections.abc import AsyncGenerator

import pytest
from aiohttp import web

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.standins.engine.door import Door, let_nobody_in
from firebolt_local.standins.environment import ADDRESS

QUERY = b"POST / HTTP/1.1\r\nHost: engine\r\nContent-Length: 8\r\nConnection: close\r\n\r\nSELECT 1"
HANG_GUARD_SECONDS = 30.0
NOBODY_ANSWERS_SECONDS = 0.2  # the kernel asks a second time after one second


@pytest.fixture
async def door(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Door]:
    monkeypatch.setenv(ADDRESS, LOOPBACK)

    async def turn_away(request: web.Request) -> web.Response:
        return web.Response(status=503, text=f"not now: {await request.text()}")

    app = web.Application()
    app.router.add_post("/", turn_away)
    opened = await Door.opened(app, free_port())
    yield opened
    await opened.runner.cleanup()


def a_query(door: Door) -> socket.socket:
    """Blocks the loop until it is sent: the kernel has taken the connection, and the program cannot have."""
    sender = socket.create_connection(door.socket.getsockname(), timeout=HANG_GUARD_SECONDS)
    sender.sendall(QUERY)
    return sender


async def answer_to(sender: socket.socket) -> bytes:
    reader, writer = await asyncio.open_connection(sock=sender)
    try:
        async with asyncio.timeout(HANG_GUARD_SECONDS):
            return await reader.read()
    finally:
        writer.close()


async def test_given_queries_that_nobody_has_taken_yet_when_the_door_closes_then_each_is_answered(door: Door) -> None:
    senders = [a_query(door) for _ in range(5)]
    await door.close(patience_seconds=HANG_GUARD_SECONDS)
    for sender in senders:
        assert (await answer_to(sender)).endswith(b"not now: SELECT 1")


async def test_given_a_closed_door_then_it_refuses(door: Door) -> None:
    place = door.socket.getsockname()
    await door.close(patience_seconds=HANG_GUARD_SECONDS)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, timeout=HANG_GUARD_SECONDS)


async def test_given_nobody_is_let_in_then_those_inside_are_served_and_others_wait_outside(door: Door) -> None:
    inside = a_query(door)
    let_nobody_in(door.socket)
    with pytest.raises(TimeoutError):
        socket.create_connection(door.socket.getsockname(), timeout=NOBODY_ANSWERS_SECONDS)
    assert (await answer_to(inside)).endswith(b"not now: SELECT 1")
