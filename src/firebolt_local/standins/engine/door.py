"""How does a listener close without shutting out those who have just come in?

Closing a socket that listens resets every connection that the kernel has set up and the program has not taken yet. Its
sender has sent a query by then, and cannot know that nobody has read it. So first nobody new is let in, then everybody
who waits inside is served, and only then the door is closed.
"""

import asyncio
import ctypes
import logging
import select
import socket
import ssl
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web

from firebolt_local.standins.environment import EVERYWHERE, listen_address

BACKLOG: Final = 1024
_HANDSHAKE_SECONDS: Final = 0.1  # for those who were answered, but whose own answer is still on its way
_LOOK_EVERY_SECONDS: Final = 0.02
_CONNECTIONS: Final = Path("/proc/self/net/tcp")
_ESTABLISHED: Final = "01"

_SO_ATTACH_FILTER: Final = 26  # asm-generic/socket.h; the socket module does not know it
_TCP_FLAGS_AT: Final = 13
_TCP_SYN: Final = 0x02
# Each: operation, steps forward if so, if not so, operand (linux/filter.h).
_UNLESS_SYN: Final = (
    (0x30, 0, 0, _TCP_FLAGS_AT),  # load that byte
    (0x45, 0, 1, _TCP_SYN),  # is that bit set?
    (0x06, 0, 0, 0),  # then drop the packet
    (0x06, 0, 0, 0xFFFFFFFF),  # else take all of it
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Door:
    runner: web.AppRunner
    socket: socket.socket

    @classmethod
    async def opened(cls, app: web.Application, port: int, tls: ssl.SSLContext | None = None) -> "Door":
        # A handler is cancelled when its client goes away: nobody waits for that answer any more.
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        listening = socket.create_server((listen_address(), port), backlog=BACKLOG)
        await web.SockSite(runner, listening, ssl_context=tls, backlog=BACKLOG).start()
        return cls(runner, listening)

    async def close(self, *, patience_seconds: float) -> None:
        """A query may be on its way on a kept connection: ending that now would leave its sender in doubt."""
        place: tuple[str, int] = self.socket.getsockname()
        let_nobody_in(self.socket)
        await asyncio.sleep(_HANDSHAKE_SECONDS)
        while _has_visitors(self.socket):  # noqa: ASYNC110 - it is the loop that lets them in
            await asyncio.sleep(0)
        for site in list(self.runner.sites):
            await site.stop()
        try:
            async with asyncio.timeout(patience_seconds):
                await _until_all_have_left(*place)
        except TimeoutError:
            log.info("closing connections that are still kept")


async def _until_all_have_left(address: str, port: int) -> None:
    """The server itself knows of nobody whose TLS handshake has not ended, and their query may be on its way."""
    while _has_guests(address, port):  # noqa: ASYNC110 - no event for it
        await asyncio.sleep(_LOOK_EVERY_SECONDS)


def let_nobody_in(listening: socket.socket) -> None:
    """Requests for new connections are dropped, not refused: their senders try again, and come when it is closed."""
    program = b"".join(struct.pack("HBBI", *step) for step in _UNLESS_SYN)
    memory = ctypes.create_string_buffer(program)
    described = struct.pack("HP", len(_UNLESS_SYN), ctypes.addressof(memory))
    listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)


def _has_visitors(listening: socket.socket) -> bool:
    poll = select.poll()  # any descriptor, where select() knows the first 1024
    poll.register(listening, select.POLLIN)
    return bool(poll.poll(0))


def _has_guests(address: str, port: int) -> bool:
    """Whether a connection to this place is established, as the kernel sees it (proc(5), /proc/net/tcp)."""
    host = f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}"
    wanted = f":{port:04X}" if address == EVERYWHERE else f"{host}:{port:04X}"
    rows = (line.split() for line in _CONNECTIONS.read_text().splitlines()[1:])
    return any(state == _ESTABLISHED and local.endswith(wanted) for _, local, _, state, *_ in rows)
