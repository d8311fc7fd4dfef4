"""The health service speaks gRPC: one answer to a check, an answer per change to a watcher."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, ResponseReceived, TrailersReceived

from firebolt_local.cluster.ports import LOOPBACK
from firebolt_local.standins import health_messages
from firebolt_local.standins.health_messages import ServingStatus
from tests.support.standins.programs import PATIENCE_SECONDS
from tests.unit.local.standins.conftest import MetadataHealth


class Caller:
    """One call on a connection of its own."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        self.statuses: list[ServingStatus] = []
        self.headers: dict[bytes, bytes] = {}

    def call(self, path: str, service: str = "") -> None:
        self._h2.initiate_connection()
        headers = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test")]
        self._h2.send_headers(1, [*headers, ("content-type", health_messages.CONTENT_TYPE), ("te", "trailers")])
        self._h2.send_data(1, health_messages.check_request(service), end_stream=True)
        self._writer.write(self._h2.data_to_send())

    async def receive(self, *, until_end: bool) -> None:
        """The next status, or everything up to the answer's end."""
        seen = len(self.statuses)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"grpc-status" not in self.headers if until_end else len(self.statuses) == seen:
                self._take(await self._reader.read(65_536))
                self._writer.write(self._h2.data_to_send())

    def _take(self, data: bytes) -> None:
        assert data, "the server hung up"
        for event in self._h2.receive_data(data):
            if isinstance(event, DataReceived):
                message = health_messages.unframed(event.data or b"")
                assert message is not None
                self.statuses.append(health_messages.answered_status(message))
            if isinstance(event, ResponseReceived | TrailersReceived):
                self.headers.update(event.headers or [])


@asynccontextmanager
async def a_caller(health: MetadataHealth) -> AsyncGenerator[Caller]:
    reader, writer = await asyncio.open_connection(LOOPBACK, health.port)
    yield Caller(reader, writer)
    writer.close()
    await writer.wait_closed()


async def test_given_a_check_then_status_and_trailers_are_answered(metadata_health: MetadataHealth) -> None:
    async with a_caller(metadata_health) as caller:
        caller.call(health_messages.CHECK)
        await caller.receive(until_end=True)
        assert caller.statuses == [ServingStatus.SERVING]
        assert caller.headers == {b":status": b"200", b"content-type": b"application/grpc", b"grpc-status": b"0"}


async def test_given_a_watch_then_every_change_is_told(metadata_health: MetadataHealth) -> None:
    async with a_caller(metadata_health) as caller:
        caller.call(health_messages.WATCH)
        await caller.receive(until_end=False)
        metadata_health.server.change(ServingStatus.NOT_SERVING)
        await caller.receive(until_end=False)
        metadata_health.server.change(ServingStatus.NOT_SERVING)  # no change, hence no news
        metadata_health.server.change(ServingStatus.SERVING)
        await caller.receive(until_end=False)
        assert caller.statuses == [ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING]


async def test_given_an_unknown_service_or_method_then_the_code_says_so(metadata_health: MetadataHealth) -> None:
    for path, service, code in (
        (health_messages.CHECK, "other", b"5"),
        ("/grpc.health.v1.Health/List", "", b"12"),
    ):
        async with a_caller(metadata_health) as caller:
            caller.call(path, service)
            await caller.receive(until_end=True)
            assert (caller.statuses, caller.headers[b"grpc-status"]) == ([], code)
    async with a_caller(metadata_health) as caller:
        caller.call(health_messages.WATCH, "other")
        await caller.receive(until_end=False)
        assert caller.statuses == [ServingStatus.SERVICE_UNKNOWN]


async def test_given_noise_then_the_connection_is_closed_and_others_are_served(metadata_health: MetadataHealth) -> None:
    reader, writer = await asyncio.open_connection(LOOPBACK, metadata_health.port)
    writer.write(b"GET / HTTP/1.1\r\n\r\n" * 10)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await reader.read()
    writer.close()
    async with a_caller(metadata_health) as caller:
        caller.call(health_messages.CHECK)
        await caller.receive(until_end=True)
        assert caller.statuses == [ServingStatus.SERVING]
