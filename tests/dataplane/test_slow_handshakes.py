"""An engine that is busy takes its time for a handshake: its queries wait for it, and are not refused."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

from firebolt_operator.api.names import PORT_QUERY
from tests.dataplane.test_tls import engine_leaf, secured
from tests.support.dataplane.rig import Rig, service_host
from tests.support.pki import server_side

SLOW_SECONDS = 0.4  # less than a health check waits


@asynccontextmanager
async def slow_door(address: str, behind: str) -> AsyncGenerator[None]:
    """The kernel takes connections at once, as it does for a busy program; what they say is heard later."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer.transport):
            await asyncio.sleep(SLOW_SECONDS)
            inner_reader, inner_writer = await asyncio.open_connection(behind, PORT_QUERY)
            with closing(inner_writer.transport):
                async with asyncio.TaskGroup() as both:
                    both.create_task(copy(reader, inner_writer), name="in")
                    both.create_task(copy(inner_reader, writer), name="out")

    async with asyncio.TaskGroup() as group:
        begun = list[asyncio.Task[None]]()

        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            begun.append(group.create_task(pass_on(reader, writer), name="connection"))

        server = await asyncio.start_server(serve, address, PORT_QUERY)
        yield
        server.close()
        for task in begun:
            task.cancel()
    await asyncio.sleep(0)  # transports close in the next turn of the loop


def beside(rig: Rig, last: int) -> str:
    return f"{rig.address.rpartition('.')[0]}.{last}"


async def test_a_slow_handshake_is_waited_for(tmp_path: Path) -> None:
    async with secured(tmp_path) as rig:
        pod = await rig.pod_at(beside(rig, 9), tls=server_side(tmp_path, engine_leaf()))
        async with slow_door(beside(rig, 8), pod.address):
            rig.zone.set(service_host("eng"), beside(rig, 8))
            answer = await rig.client.query(deadline=40)
            assert (answer.status, answer.body) == (200, b"1\n")
