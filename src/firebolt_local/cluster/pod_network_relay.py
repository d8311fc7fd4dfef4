"""Who answers inside the pod network? This process, which lives there and reaches back out.

A connection to any pod's metrics port goes on to the scrape server; a connection to the API server's loopback address
goes on to the real one outside. Run as `python -m firebolt_local.cluster.pod_network_relay POD_RANGE API_PORT`.
"""

import asyncio
import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from firebolt_local.cluster.pod_network import READY_FILE
from firebolt_local.cluster.ports import LOOPBACK
from firebolt_local.cluster.scrape import SOCKET

_METRICS_PORT = 9090
_CHUNK = 64 * 1024
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_LIBC = ctypes.CDLL(None, use_errno=True)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Networks:
    """The one outside, and the one of the pods, where this process lives from now on.

    It never goes back, not for a moment: whoever enters the pod network does so through this process, and would come
    out wherever that is just then. A thread that was there before stays outside instead.
    """

    def __init__(self, pod_range: str) -> None:
        self._outside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="outside")
        self.socket_outside().close()  # the thread is there
        _checked(_LIBC.unshare(_NEW_NETWORK))
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        subprocess.run(["ip", "route", "add", "local", pod_range, "dev", "lo"], check=True)

    def socket_outside(self) -> socket.socket:
        """A socket belongs to the network it was made in, whoever uses it."""
        return self._outside.submit(socket.socket).result()


async def serve(pod_range: str, api_port: int) -> None:
    networks = Networks(pod_range)

    async def to_api_server(_local_address: str) -> Streams:
        connection = networks.socket_outside()
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, (LOOPBACK, api_port))
        return await asyncio.open_connection(sock=connection)

    pods = await asyncio.start_server(_relay_to(_to_scrape_server), "0.0.0.0", _METRICS_PORT)
    api = await asyncio.start_server(_relay_to(to_api_server), LOOPBACK, api_port)
    async with pods, api:
        _say_ready()
        await api.serve_forever()


def _say_ready() -> None:
    Path(READY_FILE).touch()


async def _to_scrape_server(local_address: str) -> Streams:
    reader, writer = await asyncio.open_unix_connection(SOCKET)
    writer.write(f"CONNECT {local_address}:{_METRICS_PORT} HTTP/1.1\r\n\r\n".encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in answer:
        writer.close()
        raise ConnectionRefusedError(local_address)
    return reader, writer


def _relay_to(
    dial: Callable[[str], Awaitable[Streams]],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await dial(writer.get_extra_info("sockname")[0])
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(_pump(reader, far_writer), name="outwards")
            group.create_task(_pump(far_reader, writer), name="inwards")

    return relay


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    # Both directions end together: neither HTTP nor TLS says anything more to one who has hung up.
    writer.close()


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2])))
