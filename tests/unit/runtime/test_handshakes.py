"""A handshake succeeds, whatever of it has arrived before anybody could read it; uvloop reads as soon as it can."""

import asyncio
import socket
import ssl
import uuid
from collections import Counter

import pytest
import uvloop
from aiohttp import web

from firebolt_operator.runtime.certificates import self_signed_pem, server_context
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.servers import BindAddress, HttpServer

TRIES = 60


def trusting() -> ssl.SSLContext:
    """Anybody: without the authorities of the machine, which take longer to read than a handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def asked(port: int, pieces: int) -> bytes:
    """A whole exchange, its handshake and its request cut into pieces that are sent one by one."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting().wrap_bio(incoming, outgoing)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def flushed() -> None:
            data = outgoing.read()
            step = max(len(data) // pieces, 1)
            for start in range(0, len(data), step):
                connection.sendall(data[start : start + step])

        def until_done(action: str) -> bytes:
            while True:
                try:
                    if action == "read":
                        return tls.read(65536)
                    tls.do_handshake()
                except ssl.SSLWantReadError:
                    flushed()
                    incoming.write(connection.recv(65536))
                else:
                    return b""

        until_done("shake")
        tls.write(b"GET /here HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        flushed()
        return until_done("read").split(b"\r\n")[0]


async def answers(pieces: int) -> "Counter[bytes]":
    async def here(_: web.Request) -> web.Response:
        return web.Response(text=str(uuid.uuid4()))

    app = web.Application()
    app.router.add_get("/here", here)
    server = HttpServer("test", app, BindAddress("127.0.0.1", 0), server_context(self_signed_pem(SystemClock())))
    await server.start()
    try:
        return Counter([await asyncio.to_thread(asked, server.port, pieces) for _ in range(TRIES)])
    finally:
        await server.stop()


@pytest.mark.parametrize("pieces", [1, 2, 7])
@pytest.mark.parametrize("run", [pytest.param(uvloop.run, id="uvloop"), pytest.param(asyncio.run, id="asyncio")])
def test_every_handshake_is_heard_from_its_first_byte(run: object, pieces: int) -> None:
    assert callable(run)
    assert run(answers(pieces)) == {b"HTTP/1.1 200 OK": TRIES}
