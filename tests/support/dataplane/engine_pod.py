"""A stand-in for one engine pod: it honours the port, the health path and the drained answer, and obeys a test."""

import asyncio
import itertools
import socket
import ssl
import struct
from typing import Final

from tests.support.dataplane.http_messages import Message, MessageReader, answer
from tests.support.dataplane.ledger import Ledger, parameter
from tests.support.dataplane.network import listening_socket

QUERY_PORT: Final = 3473
DRAINED: Final = {"X-Firebolt-Drained": "true"}
TLS_HANDSHAKE: Final = b"\x16"  # how a connection begins on which TLS is spoken


class EnginePod:
    """Change its attributes at any time; they apply from the next request or connection on."""

    def __init__(self, address: str, ledger: Ledger, namespace: str = "", tls: ssl.SSLContext | None = None) -> None:
        self.address = address
        self.tls = tls  # None: it speaks plaintext
        self.namespace = namespace  # of the network; empty means the test's own
        self.ledger = ledger
        self.is_ready = True
        self.is_drained = False
        self.talks_nonsense = False  # runs queries and answers what is no HTTP
        self.is_silent = False  # takes queries and never answers
        self.resets_connections = False  # right after accepting them
        self.status = 200
        self.delay = 0.0  # seconds; the parameter `delay` of a query wins
        self.closes_idle_after: float | None = None
        self.announces_close_every = 0  # answers; 0 means never
        self.pauses_reading_after: int | None = None  # bytes of one request
        self.connections: set[_Connection] = set()
        self.accepted = 0
        self.health_checks = 0
        self.answered = itertools.count(1)
        self._server: asyncio.Server | None = None

    @property
    def running(self) -> int:
        return sum(connection.is_running for connection in self.connections)

    @property
    def is_pausing(self) -> bool:
        return any(connection.is_pausing for connection in self.connections)

    async def start(self) -> "EnginePod":
        loop = asyncio.get_running_loop()
        listener = listening_socket(self.namespace, self.address, QUERY_PORT)
        self._server = await loop.create_server(lambda: _Connection(self), sock=listener, backlog=2048, ssl=self.tls)
        return self

    def begin_shutdown(self) -> None:
        """What an engine does on SIGTERM: it fails its health check and turns new queries away before any work."""
        self.is_ready = False
        self.is_drained = True

    def stop_listening(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def close_idle_connections(self) -> None:
        for connection in list(self.connections):
            connection.close_if_idle()

    def read_on(self) -> None:
        self.pauses_reading_after = None
        for connection in list(self.connections):
            connection.read_on()

    def speak(self) -> None:
        """Answers what it took in silence."""
        self.is_silent = False
        for connection in list(self.connections):
            connection.speak()

    def die(self) -> None:
        """At once, with whatever runs; peers see a reset."""
        self.stop_listening()
        for connection in list(self.connections):
            connection.reset()


class _Connection(asyncio.Protocol):
    def __init__(self, pod: EnginePod) -> None:
        self.pod = pod
        self.is_running = False
        self.is_pausing = False
        self._received = 0
        self._reader = MessageReader()
        self._transport: asyncio.Transport | None = None
        self._idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a TCP connection without a TCP transport")
        self._transport = transport
        self.pod.connections.add(self)
        self.pod.accepted += 1
        if self.pod.resets_connections:
            self.reset()
            return
        self._rest()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base class names it
        self.pod.connections.discard(self)
        self._stop_idle_clock()

    def data_received(self, data: bytes) -> None:
        self._stop_idle_clock()
        if not self._received and data.startswith(TLS_HANDSHAKE) and self._transport is not None:
            self._transport.close()  # as any server does with what is no HTTP
            return
        self._received += len(data)
        message = self._reader.feed(data)
        if message is None:
            self._pause()
            return
        self._received = 0
        if message.target == "/health/ready":
            self.pod.health_checks += 1
            self._send(answer(200 if self.pod.is_ready else 503))
            return
        self._run(message)

    def read_on(self) -> None:
        if self._transport is not None and self.is_pausing:
            self.is_pausing = False
            self._transport.resume_reading()

    def speak(self) -> None:
        if self.is_running:
            self._finish(b"1\n")

    def close_if_idle(self) -> None:
        if self._transport is not None and not self.is_running:
            self._transport.close()

    def reset(self) -> None:
        if self._transport is None:
            return
        found: socket.socket | None = self._transport.get_extra_info("socket")
        if found is not None:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _pause(self) -> None:
        after = self.pod.pauses_reading_after
        if after is not None and self._received > after and self._transport is not None and not self.is_pausing:
            self.is_pausing = True
            self._transport.pause_reading()

    def _run(self, message: Message) -> None:
        if self.pod.is_drained:
            self.pod.ledger.turn_away(self.pod.address, message.target)
            self._send(answer(503, b"draining", DRAINED))
            return
        self.pod.ledger.record(self.pod.address, message.target, message.headers, message.body)
        self.is_running = True
        if self.pod.is_silent:
            return
        delay = float(parameter(message.target, "delay") or self.pod.delay)
        body = b"x" * int(parameter(message.target, "size") or 0) or b"1\n"
        if delay <= 0:
            self._finish(body)
            return
        asyncio.get_running_loop().call_later(delay, self._finish, body)

    def _finish(self, body: bytes) -> None:
        self.is_running = False
        nonsense = b"\x16\x03\x01 what is HTTP?\r\n\r\n"
        said = nonsense if self.pod.talks_nonsense else answer(self.pod.status, body, self._answer_headers())
        self._send(said)

    def _answer_headers(self) -> dict[str, str]:
        headers = {"x-pod": self.pod.address}
        every = self.pod.announces_close_every
        if every and next(self.pod.answered) % every == 0:
            headers["connection"] = "close"
        return headers

    def _send(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data)
        if b"\r\nconnection: close\r\n" in data:
            self._transport.close()
            return
        self._rest()

    def _rest(self) -> None:
        after = self.pod.closes_idle_after
        if after is not None and self._transport is not None:
            self._idle = asyncio.get_running_loop().call_later(after, self._transport.close)

    def _stop_idle_clock(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
