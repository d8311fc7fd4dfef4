"""A client that asks for a large answer, reads its beginning, and reads on when told."""

import asyncio
import socket
from typing import Final

from firebolt_operator.refs import Manifest
from tests.support.dataplane.http_messages import HEAD_END
from tests.support.dataplane.rig import Rig, eventually

MIB: Final = 1024 * 1024


def little_room_in_the_kernel(bootstrap: Manifest) -> None:
    """So that Envoy itself keeps what its client does not read."""
    option = {"level": socket.SOL_SOCKET, "name": socket.SO_SNDBUF, "int_value": 64 * 1024}
    bootstrap["static_resources"]["listeners"][0]["socket_options"].append(option)


class PausingReader:
    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        self._socket.setblocking(False)
        self._head = b""  # until its end has come
        self._body_bytes = 0

    async def ask(self, size: int, headers: str = "") -> None:
        await self._loop.sock_connect(self._socket, (self._rig.address, 8080))
        head = f"GET /?id=big&size={size} HTTP/1.1\r\nhost: gateway\r\nx-firebolt-engine: eng\r\n{headers}\r\n"
        await self._loop.sock_sendall(self._socket, head.encode())
        await self._read(1)

    async def until_envoy_is_stuck(self) -> None:
        await eventually(self._envoy_waits, 30, "Envoy has more to send than it can")

    async def read_all(self, size: int) -> int:
        """How many bytes of the body arrive; fewer than asked for if the connection ends before."""
        while self._body_bytes < size and await self._read(MIB):
            pass
        return self._body_bytes

    def close(self) -> None:
        self._socket.close()

    async def _read(self, most: int) -> bool:
        try:
            data = await self._loop.sock_recv(self._socket, most)
        except ConnectionResetError:
            return False
        if HEAD_END in self._head:
            self._body_bytes += len(data)
        else:
            self._head += data
            self._body_bytes = len(self._head.partition(HEAD_END)[2])
        return bool(data)

    async def _envoy_waits(self) -> bool:
        return await self._rig.envoy.stat("http.gateway.downstream_cx_tx_bytes_buffered") > 0
