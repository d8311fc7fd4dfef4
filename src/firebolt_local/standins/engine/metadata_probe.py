"""Does the metadata service answer? Asked by the gRPC health protocol."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

from firebolt_local.standins import health_messages
from firebolt_local.standins.health_messages import ServingStatus

TIMEOUT_SECONDS: Final = 5
_READ_BYTES: Final = 65_536


class NoAnswerError(Exception):
    """The service cannot be asked, for now."""


async def metadata_status(endpoint: str) -> ServingStatus:
    host, _, port = endpoint.rpartition(":")
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
            try:
                return await _ask(reader, writer, endpoint)
            finally:
                writer.close()
    except (OSError, ProtocolError, ValueError) as err:
        raise NoAnswerError(f"{endpoint}: {str(err) or type(err).__name__}") from err


@dataclass(slots=True)
class _Answer:
    body: bytearray = field(default_factory=bytearray)
    is_over: bool = False

    def take(self, connection: H2Connection, event: Event) -> None:
        match event:
            case DataReceived(data=data, stream_id=int(stream)):
                self.body += data or b""
                connection.acknowledge_received_data(event.flow_controlled_length or 0, stream)
            case StreamEnded() | StreamReset() | ConnectionTerminated():
                self.is_over = True
            case _:
                pass


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, authority: str) -> ServingStatus:
    connection = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
    connection.initiate_connection()
    stream = connection.get_next_available_stream_id()
    connection.send_headers(stream, _request_headers(authority))
    connection.send_data(stream, health_messages.check_request(), end_stream=True)
    answer = _Answer()
    while not answer.is_over:
        writer.write(connection.data_to_send())
        data = await reader.read(_READ_BYTES)
        if not data:
            break
        for event in connection.receive_data(data):
            answer.take(connection, event)
    message = health_messages.unframed(bytes(answer.body))
    if message is None:
        raise ValueError("the answer to the health check is not complete")
    return health_messages.answered_status(message)


def _request_headers(authority: str) -> list[tuple[str, str]]:
    return [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", health_messages.CHECK),
        (":authority", authority),
        ("content-type", health_messages.CONTENT_TYPE),
        ("te", "trailers"),
    ]
