"""A client of the gateway: raw bytes where a test is hostile, kept connections where it measures."""

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import Final

from tests.support.dataplane.http_messages import Message, MessageReader
from tests.support.dataplane.network import tcp_socket

DEADLINE: Final = 30.0  # seconds, unless a test says otherwise


class ConnectionEndedError(Exception):
    """The gateway closed the connection before its answer was complete."""


class _Connection(asyncio.Protocol):
    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.is_open = False
        self._reader = MessageReader(body_until_close=True)
        self._waiting: asyncio.Future[Message] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a TCP connection without a TCP transport")
        self.transport = transport
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        message = self._reader.close()
        if self._waiting is None or self._waiting.done():
            return
        if message is not None:
            self._waiting.set_result(message)
            return
        self._waiting.set_exception(ConnectionEndedError(str(exc or "closed")))

    def data_received(self, data: bytes) -> None:
        message = self._reader.feed(data)
        if message is None or self._waiting is None or self._waiting.done():
            return
        if message.headers.get("connection", "").lower() == "close":
            self.is_open = False
        self._waiting.set_result(message)

    async def exchange(self, data: bytes, deadline: float) -> Message:
        if self.transport is None:
            raise RuntimeError("not connected")
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        async with asyncio.timeout(deadline):
            return await self._waiting


@dataclass(slots=True)
class Client:
    """Connections are taken from a pool and put back, as real clients do."""

    address: str
    port: int
    namespace: str = ""  # of the network; empty means the test's own
    tls: ssl.SSLContext | None = None
    host: str = ""  # that the gateway's certificate has to name
    _idle: list[_Connection] = field(default_factory=list[_Connection])

    async def query(
        self,
        target: str = "/",
        engine: str = "eng",
        body: bytes = b"select 1",
        headers: dict[str, str] | None = None,
        deadline: float = DEADLINE,
    ) -> Message:
        extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = (
            f"POST {target} HTTP/1.1\r\nhost: gateway\r\nx-firebolt-engine: {engine}\r\n{extra}"
            f"content-length: {len(body)}\r\n\r\n"
        )
        return await self.send(head.encode("latin-1") + body, deadline)

    async def get(self, target: str, deadline: float = DEADLINE) -> Message:
        return await self.send(f"GET {target} HTTP/1.1\r\nhost: gateway\r\n\r\n".encode("latin-1"), deadline)

    async def post(self, target: str, deadline: float = DEADLINE) -> Message:
        head = f"POST {target} HTTP/1.1\r\nhost: gateway\r\ncontent-length: 0\r\n\r\n"
        return await self.send(head.encode("latin-1"), deadline)

    async def send(self, data: bytes, deadline: float = DEADLINE) -> Message:
        connection = await self.take()
        try:
            message = await connection.exchange(data, deadline)
        except BaseException:
            _close(connection)
            raise
        self._put(connection)
        return message

    async def take(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            _close(connection)
        loop = asyncio.get_running_loop()
        dialled = tcp_socket(self.namespace)
        try:
            await loop.sock_connect(dialled, (self.address, self.port))
        except BaseException:
            dialled.close()
            raise
        host = self.host if self.tls else None
        _, connection = await loop.create_connection(_Connection, sock=dialled, ssl=self.tls, server_hostname=host)
        return connection

    def close(self) -> None:
        while self._idle:
            _close(self._idle.pop())

    def _put(self, connection: _Connection) -> None:
        if connection.is_open:
            self._idle.append(connection)
            return
        _close(connection)


def _close(connection: _Connection) -> None:
    if connection.transport is not None:
        connection.transport.abort()
