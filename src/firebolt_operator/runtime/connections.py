"""What may a connection cost us? Anybody in the cluster can open one, or ten thousand, and send as little as they like.

Each stands between its socket and the HTTP library: it counts, it has deadlines, and it can be closed for another.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol, cast

from firebolt_operator.runtime.clock import Clock, Timer
from firebolt_operator.runtime.handshakes import secured
from firebolt_operator.runtime.request_gate import RefusedRequestError, RequestGate

NOTHING_UNSENT: Final = 1  # bytes; a transport that has more unsent says so, which starts a deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    connections: int = 256
    head_bytes: int = 32 * 1024
    bodies_bytes: int = 32 * 1024 * 1024  # of all requests under way together
    handshake_seconds: float = 10.0
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    sending_seconds: float = 60.0
    # Longer than the API server keeps one: who closes under a request that is on its way fails somebody's write.
    idle_seconds: float = 120.0


# For probes and scrapes: few ask, with nothing but a head.
WATCHING_LIMITS: Final = Limits(connections=64, bodies_bytes=1024 * 1024, idle_seconds=75.0)


class RequestBody(Protocol):
    def is_eof(self) -> bool: ...


class Connections:
    """All of one server. For one too many, another is closed: of whoever has most, the one unused for longest.

    So a flood from one address only closes its own. Who has sent a whole request is never closed for another.
    """

    def __init__(self, limits: Limits, clock: Clock, tls: ssl.SSLContext | None) -> None:
        self.limits = limits
        self.clock = clock
        self.tls = tls
        self._open: dict[Connection, None] = {}  # in the order of their last answer
        self._by_http: dict[asyncio.BaseProtocol, Connection] = {}
        self._unanswered_bytes = 0

    def __len__(self) -> int:
        return len(self._open)

    def of(self, http: asyncio.BaseProtocol) -> "Connection | None":
        return self._by_http.get(http)

    def add(self, connection: "Connection") -> bool:
        """Is there room?"""
        self._open[connection] = None
        self._by_http[connection.http] = connection
        while len(self._open) > self.limits.connections:
            closing = self._to_close(lambda _: 1)
            if closing is None:  # all are waiting for us
                connection.abort()
                return False
            closing.abort()
        return connection in self._open

    def remove(self, connection: "Connection") -> None:
        if connection in self._open:
            del self._open[connection]
            del self._by_http[connection.http]
            self._unanswered_bytes -= connection.unanswered_bytes

    def answered(self, connection: "Connection") -> None:
        if connection in self._open:
            self._unanswered_bytes -= connection.unanswered_bytes
            connection.unanswered_bytes = 0
            self._open[connection] = self._open.pop(connection)

    def take(self, connection: "Connection", count: int) -> None:
        connection.unanswered_bytes += count
        self._unanswered_bytes += count
        while connection in self._open and self._unanswered_bytes > self.limits.bodies_bytes:
            closing = self._to_close(lambda one: one.unanswered_bytes) or connection
            closing.abort()

    def abort_all(self) -> None:
        for connection in list(self._open):
            connection.abort()

    def _to_close(self, weigh: Callable[["Connection"], int]) -> "Connection | None":
        by_address: Counter[str] = Counter()
        for connection in self._open:
            by_address[connection.address] += weigh(connection)
        waiting = (one for one in self._open if one.waits_for_peer and weigh(one))
        return max(waiting, key=lambda one: by_address[one.address], default=None)


class Connection(asyncio.Protocol):
    def __init__(self, http: asyncio.Protocol, connections: Connections) -> None:
        self.http = http
        self.address = ""
        self.unanswered_bytes = 0
        self._connections = connections
        self._limits = connections.limits
        self._gate = RequestGate(self._limits.head_bytes)
        self._socket: asyncio.Transport | None = None
        self._transport: asyncio.Transport | None = None  # what the HTTP library writes to: the socket, or TLS over it
        self._securing: asyncio.Task[None] | None = None
        self._early = b""  # came before anybody could read it: the begin of a handshake, or a request with its end
        self._body: RequestBody | None = None  # of the request that is being answered
        self._deadline: Timer | None = None
        self._sending: Timer | None = None

    @property
    def waits_for_peer(self) -> bool:
        return self._body is None or not self._body.is_eof()

    @property
    def is_known(self) -> bool:
        return self._connections.of(self.http) is self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if peer else ""
        if not self._connections.add(self):
            return
        if self._connections.tls is None:
            self._open(self._socket)
            return
        self._socket.pause_reading()
        self._expect_within(self._limits.handshake_seconds)
        securing = self._secure(self._socket, self._connections.tls)
        self._securing = asyncio.get_running_loop().create_task(securing, name="TLS handshake")

    async def _secure(self, socket: asyncio.Transport, tls: ssl.SSLContext) -> None:
        if not self.is_known:
            return
        early, self._early = self._early, b""
        try:
            transport = await secured(socket, self, tls, early)
        except OSError:  # what the peer sent is no handshake, or it left
            self.abort()
            return
        if transport is None or socket.is_closing() or not self.is_known:
            self.abort()
            return
        self._expect_nothing()
        self._open(transport)
        early, self._early = self._early, b""
        self.data_received(early)

    def _open(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=NOTHING_UNSENT, low=0)
        self.http.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        if self._transport is None:
            self._early += data
            return
        try:
            self._hand_on(self._gate.received(data))
        except RefusedRequestError as refusal:
            self._transport.write(_answer(refusal.status))
            self._transport.close()

    def _hand_on(self, data: bytes) -> None:
        # Also for a head that is whole: the parser may wait for more, as after the first line of HTTP/2.
        if (data or self._gate.is_reading_head) and self._body is None and self._deadline is None:
            self._expect_within(self._limits.head_seconds)
        if data and self.is_known:
            self._connections.take(self, len(data))
        if data and self.is_known:
            self.http.data_received(data)

    def request_began(self, body: RequestBody) -> None:
        self._body = body
        self._expect_nothing()
        if not body.is_eof():
            self._expect_within(self._limits.body_seconds)

    def request_ended(self) -> None:
        if not self.waits_for_peer:
            self._expect_nothing()
        self._body = None
        self._connections.answered(self)
        try:
            self._hand_on(self._gate.answered())
        except RefusedRequestError:
            self.abort()  # the answer to the request before may not be written yet: no place for one of ours

    def eof_received(self) -> bool | None:
        return self.http.eof_received()

    def pause_writing(self) -> None:
        self._sending = self._connections.clock.call_later(self._limits.sending_seconds, self.abort)
        self.http.pause_writing()

    def resume_writing(self) -> None:
        self._stop_sending_deadline()
        self.http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        if self._transport is not None:
            self.http.connection_lost(exc)

    def abort(self) -> None:
        """At once: what was sent to the peer and not taken by it is dropped."""
        self._forget()
        transport = self._transport or self._socket
        if transport is not None:
            transport.abort()

    def _forget(self) -> None:
        self._connections.remove(self)
        self._expect_nothing()
        self._stop_sending_deadline()

    def _expect_within(self, seconds: float) -> None:
        self._deadline = self._connections.clock.call_later(seconds, self._expired)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None

    def _stop_sending_deadline(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        self._sending = None

    def _expired(self) -> None:
        self._deadline = None
        if self.waits_for_peer:
            self.abort()


def _answer(status: HTTPStatus) -> bytes:
    return f"HTTP/1.1 {status.value} {status.phrase}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()
