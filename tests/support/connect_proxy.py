"""A real forward proxy on loopback: it joins two sockets for whoever asks with CONNECT."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class ConnectProxy:
    """Knows addresses that nobody else does: `routes` leads from what a client asks for to a port on loopback."""

    routes: Mapping[str, int]
    login: str = ""  # "user:password" if only that one may pass
    asked: list[str] = field(default_factory=list[str])
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split("\r\n")[0].split(" ")
        self.asked.append(f"{method} {target}")
        login = base64.b64encode(self.login.encode()).decode()
        if self.login and f"Proxy-Authorization: Basic {login}" not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        port = self.routes.get(target)
        if method != "CONNECT" or port is None:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            group.create_task(_pump(reader, far_writer), name="there")
            group.create_task(_pump(far_reader, writer), name="back")


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while chunk := await source.read(1 << 16):
            target.write(chunk)
            await target.drain()
    except ConnectionError:
        pass
    finally:
        target.close()


@asynccontextmanager
async def a_proxy(routes: Mapping[str, int], login: str = "") -> AsyncGenerator[ConnectProxy]:
    proxy = ConnectProxy(routes, login)
    async with await asyncio.start_server(proxy.serve, "127.0.0.1", 0) as server:
        proxy.port = server.sockets[0].getsockname()[1]
        yield proxy
