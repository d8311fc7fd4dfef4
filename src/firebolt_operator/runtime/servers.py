"""How does an HTTP application listen, and stop listening?"""

import asyncio
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from socket import SO_RCVBUF, SO_SNDBUF, SOL_SOCKET
from typing import Final, Protocol

from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler, Middleware

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.runtime.clock import Clock, SystemClock
from firebolt_operator.runtime.connections import Connection, Connections, Limits

BACKLOG: Final = 1024  # a burst of connections that are not accepted yet
MOST_HEADERS: Final = 64
RECEIVE_BYTES: Final = 32 * 1024  # of a socket; the kernel keeps twice as much at the most, and TLS reads it at once
SEND_BYTES: Final = 128 * 1024
DEFAULT_LIMITS: Final = Limits()
CLOSING_SECONDS: Final = 1.0  # what a request under way gets when the server stops

log = logging.getLogger(__name__)


class Server(Protocol):
    @property
    def name(self) -> str: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BindAddress:
    host: str | None  # None means every interface
    port: int  # 0 means any that is free


def parse_bind_address(text: str) -> BindAddress:
    """`:8081`, `127.0.0.1:8081` or `[::1]:8081`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise ConfigurationError(f"invalid bind address {text!r}: want host:port or :port")
    return BindAddress(host.strip("[]") or None, int(port))


@dataclass(slots=True)
class HttpServer:
    """Whoever connects gets no more than `limits`: every server of ours listens this way."""

    name: str
    app: web.Application
    address: BindAddress
    tls: ssl.SSLContext | None = None
    limits: Limits = DEFAULT_LIMITS
    closing_seconds: float = CLOSING_SECONDS
    is_ended_by_caller: bool = False  # a caller that hangs up ends what it asked for
    farewell_seconds: float = 0.0  # for those who keep connections: they are asked to let go of them before the end
    clock: Clock = field(default_factory=SystemClock)
    connections: Connections = field(init=False)
    _runner: web.AppRunner | None = field(default=None, init=False)
    _listening: asyncio.Server | None = field(default=None, init=False)
    _is_leaving: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.connections = Connections(self.limits, self.clock, self.tls)
        self.app.middlewares[:0] = [self._letting_go(), _request_tracking(self.connections)]

    async def start(self) -> None:
        """Raises ConfigurationError if the address is taken."""
        self._runner = web.AppRunner(
            self.app,
            access_log=None,
            logger=log,
            shutdown_timeout=self.closing_seconds,
            handler_cancellation=self.is_ended_by_caller,
            keepalive_timeout=self.limits.idle_seconds,
            max_headers=MOST_HEADERS,
        )
        await self._runner.setup()
        if self._runner.server is None:
            raise RuntimeError(f"the {self.name} server was not set up")
        try:
            self._listening = await self._listen(self._runner.server)
        except OSError as err:
            await self.stop()
            raise ConfigurationError(f"the {self.name} server cannot listen on {self.address}: {err}") from err

    async def _listen(self, http: Callable[[], asyncio.Protocol]) -> asyncio.Server:
        listening = await asyncio.get_running_loop().create_server(
            lambda: Connection(http(), self.connections),
            self.address.host,
            self.address.port,
            backlog=BACKLOG,
            start_serving=False,
        )
        for socket in listening.sockets:  # inherited by connections
            socket.setsockopt(SOL_SOCKET, SO_RCVBUF, RECEIVE_BYTES)
            socket.setsockopt(SOL_SOCKET, SO_SNDBUF, SEND_BYTES)
        await listening.start_serving()
        return listening

    def _letting_go(self) -> Middleware:
        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            response = await handler(request)
            if self._is_leaving:
                response.force_close()
            return response

        return middleware

    async def stop(self) -> None:
        self._is_leaving = True
        if self.farewell_seconds and len(self.connections):
            # Closed under a caller who is just writing to it, a connection costs that caller a request.
            await self.clock.sleep(self.farewell_seconds)
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.connections.abort_all()

    @property
    def port(self) -> int:
        """Where it listens, also if any port was asked for."""
        if self._listening is None:
            raise RuntimeError(f"the {self.name} server does not listen")
        return int(self._listening.sockets[0].getsockname()[1])


def _request_tracking(connections: Connections) -> Middleware:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        connection = connections.of(request.protocol)
        if connection is None:
            return await handler(request)
        connection.request_began(request.content)
        try:
            return await handler(request)
        finally:
            connection.request_ended()

    return middleware


def _is_our_fault(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, (HttpProcessingError, ConnectionError, web.RequestPayloadError))


log.addFilter(_is_our_fault)  # anybody can send nonsense or hang up, as often as they like
