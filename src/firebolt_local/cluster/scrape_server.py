"""What does a simulated pod answer on its metrics port?

The API server reaches pods through this server (its egress for cluster traffic), which names the pod's address and then
speaks to "the pod". So one process answers for every pod and tells them apart, and nobody needs root or a network of
its own. Run as `python -m firebolt_local.cluster.scrape_server SOCKET`; the same socket takes orders, see scrape.py.
"""

import asyncio
import json
import sys
from collections import Counter
from dataclasses import dataclass, field

import msgspec

from firebolt_local.cluster.scrape import DEFAULT, ORDERS, REQUESTS, Behaviour, Mode

_HEAD_LIMIT = 64 * 1024
_GARBAGE = b"\x00\xff not a metric {{{\n"


@dataclass(slots=True)
class ScrapeServer:
    behaviours: dict[str, Behaviour] = field(default_factory=dict[str, Behaviour])  # by pod address
    requests: Counter[str] = field(default_factory=Counter[str])  # by pod address

    async def serve(self, socket_name: str) -> None:
        server = await asyncio.start_unix_server(self._converse, socket_name, limit=_HEAD_LIMIT)
        async with server:
            await server.serve_forever()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._first_words(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # the other side hung up, which is its right
        finally:
            writer.close()

    async def _first_words(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, length = await _request_head(reader)
        if method != "CONNECT":
            status, answer = self._obey(method, target, await reader.readexactly(length))
            writer.write(_response(status, answer))
            await writer.drain()
            return
        address = target.rpartition(":")[0]
        if self._behaviour(address).mode is Mode.REFUSE:
            writer.write(_response(502, b"connection refused"))
            await writer.drain()
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await self._be_the_pod(address, reader, writer)

    async def _be_the_pod(self, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            _, target, _ = await _request_head(reader)
            self.requests[address] += 1
            behaviour = self._behaviour(address)
            if behaviour.mode is Mode.BLACK_HOLE:
                await reader.read()  # until the other side gives up
                return
            await asyncio.sleep(behaviour.delay_seconds)
            writer.write(_scrape_response(behaviour, target))
            await writer.drain()

    def _behaviour(self, address: str) -> Behaviour:
        return self.behaviours.get(address) or self.behaviours.get(DEFAULT, Behaviour())

    def _obey(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        if (method, target) == ("GET", REQUESTS):
            return 200, json.dumps(self.requests).encode()
        if (method, target) == ("DELETE", ORDERS):
            self.behaviours.clear()
            self.requests.clear()
            return 200, b""
        if method == "PUT" and target.startswith(f"{ORDERS}/"):
            try:
                self.behaviours[target.removeprefix(f"{ORDERS}/")] = msgspec.json.decode(body, type=Behaviour)
            except msgspec.DecodeError as err:
                return 400, str(err).encode()
            return 200, b""
        return 404, b"no such order"


def _scrape_response(behaviour: Behaviour, target: str) -> bytes:
    match behaviour.mode:
        case Mode.ERROR:
            return _response(500, b"something broke")
        case Mode.GARBAGE:
            return _response(200, _GARBAGE)
        case _ if target.partition("?")[0] != "/metrics":
            return _response(404, b"only /metrics is simulated")
        case _:
            return _response(200, (behaviour.body or _exposition(behaviour)).encode())


def _exposition(behaviour: Behaviour) -> str:
    return (
        "# TYPE firebolt_running_queries gauge\n"
        f"firebolt_running_queries {behaviour.running}\n"
        "# TYPE firebolt_suspended_queries gauge\n"
        f"firebolt_suspended_queries {behaviour.suspended}\n"
    )


async def _request_head(reader: asyncio.StreamReader) -> tuple[str, str, int]:
    """Method, target and body length of the next request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    request_line, *headers = head.split("\r\n")
    method, target, _ = request_line.split(" ", 2)
    lengths = [
        value for name, _, value in (line.partition(":") for line in headers) if name.lower() == "content-length"
    ]
    return method, target, int(lengths[0]) if lengths else 0


def _response(status: int, body: bytes) -> bytes:
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return f"HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


if __name__ == "__main__":
    asyncio.run(ScrapeServer().serve(sys.argv[1]))
