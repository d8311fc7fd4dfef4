"""How does an open connection become a TLS one, whatever has arrived on it already?

uvloop begins to read a new connection even if its protocol paused it, so the first bytes of a handshake may be there
before anybody who understands them. The event loop's own `start_tls` would never see these.
"""

import asyncio
import ssl
from collections.abc import Coroutine
from typing import Any, Final, cast

SHUTDOWN_SECONDS: Final = 5.0  # for the peer's part in the end of a TLS connection


async def secured(
    socket: asyncio.Transport, protocol: asyncio.Protocol, tls: ssl.SSLContext, early: bytes
) -> asyncio.Transport | None:
    """`early` are the bytes that the protocol was given instead of the handshake."""
    loop = asyncio.get_running_loop()
    starting = loop.start_tls(socket, protocol, tls, server_side=True, ssl_shutdown_timeout=SHUTDOWN_SECONDS)
    return await _started(starting, socket, early)


async def _started(
    starting: Coroutine[Any, Any, asyncio.Transport | None], socket: asyncio.Transport, early: bytes
) -> asyncio.Transport | None:
    """Its first step only plans who is told of the connection and when reading goes on: right behind these two, and
    before anything more is read, comes what is here already.
    """
    try:
        shaken = starting.send(None)
        if early:
            asyncio.get_running_loop().call_soon(_hand_over, socket, early)
        await asyncio.wait([shaken])
        starting.send(None)
    except StopIteration as done:
        return cast("asyncio.Transport | None", done.value)
    finally:
        starting.close()
    raise RuntimeError("a handshake that waits for more than one thing")


def _hand_over(socket: asyncio.Transport, early: bytes) -> None:
    if socket.is_closing():
        return
    handshake = cast("asyncio.BufferedProtocol", socket.get_protocol())
    room = memoryview(handshake.get_buffer(len(early)))
    if len(room) < len(early):
        socket.abort()
        return
    room[: len(early)] = early
    handshake.buffer_updated(len(early))
