"""How does the metadata service tell that it serves? By the gRPC health protocol, over HTTP/2 without TLS."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from firebolt_local.standins import health_messages
from firebolt_local.standins.health_messages import ServingStatus

MAX_REQUEST_BYTES: Final = 1024
_ANSWER: Final = [(":status", "200"), ("content-type", health_messages.CONTENT_TYPE)]


class HealthServer:
    """Answers for one service, the unnamed one."""

    def __init__(self) -> None:
        self.status = ServingStatus.NOT_SERVING
        self.connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None

    async def start(self, address: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), address, port)

    def change(self, status: ServingStatus) -> None:
        if status is self.status:
            return
        self.status = status
        for connection in list(self.connections):
            connection.tell_watchers()

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for connection in list(self.connections):
            connection.leave()
        await self._server.wait_closed()


@dataclass(slots=True)
class _Call:
    path: str
    body: bytearray = field(default_factory=bytearray)
    is_watching: bool = False


class _Connection(asyncio.Protocol):
    def __init__(self, server: HealthServer) -> None:
        self._server = server
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self._calls: dict[int, _Call] = {}
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a TCP connection without a TCP transport")
        self._transport = transport
        self._server.connections.add(self)
        self._h2.initiate_connection()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base class names it
        self._server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except (ProtocolError, ValueError):
            self.leave()
            return
        self._flush()

    def tell_watchers(self) -> None:
        try:
            for stream, call in self._calls.items():
                if call.is_watching:
                    self._h2.send_data(stream, health_messages.check_response(self._server.status))
        except ProtocolError:
            self.leave()
            return
        self._flush()

    def leave(self) -> None:
        try:
            self._h2.close_connection()
        except ProtocolError:
            pass  # the peer has said goodbye already
        else:
            self._flush()
        if self._transport is not None:
            self._transport.close()

    def _take(self, event: Event) -> None:
        match event:
            case RequestReceived(stream_id=int(stream), headers=list(headers)):
                self._calls[stream] = _Call(dict(headers).get(b":path", b"").decode())
            case DataReceived(stream_id=int(stream), data=bytes(data)):
                self._h2.acknowledge_received_data(event.flow_controlled_length or 0, stream)
                self._calls[stream].body += data
                if len(self._calls[stream].body) > MAX_REQUEST_BYTES:
                    raise ValueError("request too long")
            case StreamEnded(stream_id=int(stream)):
                self._answer(stream, self._calls[stream])
            case StreamReset(stream_id=int(stream)):
                self._calls.pop(stream, None)
            case _:
                pass

    def _answer(self, stream: int, call: _Call) -> None:
        if call.path not in {health_messages.CHECK, health_messages.WATCH}:
            self._refuse(stream, health_messages.UNIMPLEMENTED)
            return
        message = health_messages.unframed(bytes(call.body))
        if message is None:
            raise ValueError("request cut short")
        is_known = health_messages.requested_service(message) == ""
        if call.path == health_messages.CHECK and not is_known:
            self._refuse(stream, health_messages.NOT_FOUND)
            return
        status = self._server.status if is_known else ServingStatus.SERVICE_UNKNOWN
        self._h2.send_headers(stream, _ANSWER)
        self._h2.send_data(stream, health_messages.check_response(status))
        if call.path == health_messages.WATCH:
            call.is_watching = is_known
            return
        self._h2.send_headers(stream, [("grpc-status", health_messages.OK)], end_stream=True)
        del self._calls[stream]

    def _refuse(self, stream: int, code: str) -> None:
        self._h2.send_headers(stream, [*_ANSWER, ("grpc-status", code)], end_stream=True)
        del self._calls[stream]

    def _flush(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._h2.data_to_send())
