"""A DNS server whose answers a test decides: addresses, names without any, names unknown, and resolvers that lag."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, cast

from tests.support.dataplane.network import udp_socket

A: Final = 1
IN: Final = 1
NAME_ERROR: Final = 3
RESPONSE_FLAGS: Final = 0x8580  # response, authoritative, recursion wanted and available


@dataclass(slots=True)
class Zone:
    """Names and their addresses. An unknown name is NXDOMAIN, a known one without addresses an empty answer."""

    ttl: int = 5
    lag: float = 0.0  # seconds for which a changed name is still answered as before: a resolver's cache
    lookups: Counter[str] = field(default_factory=Counter[str])
    _records: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    _before: dict[str, tuple[float, tuple[str, ...] | None]] = field(
        default_factory=dict[str, tuple[float, tuple[str, ...] | None]]
    )

    def set(self, name: str, *addresses: str) -> None:
        now = asyncio.get_running_loop().time()
        self._before[name] = (now + self.lag, self.visible(name))
        self._records[name] = addresses

    def visible(self, name: str) -> tuple[str, ...] | None:
        """What a lookup answers now; None for an unknown name."""
        until, before = self._before.get(name, (0.0, None))
        if asyncio.get_running_loop().time() < until:
            return before
        return self._records.get(name)


@asynccontextmanager
async def serving_dns(zone: Zone, address: str, port: int, namespace: str = "") -> AsyncGenerator[None]:
    loop = asyncio.get_running_loop()
    bound = udp_socket(namespace, address, port)
    transport, _ = await loop.create_datagram_endpoint(lambda: _Server(zone), sock=bound)
    try:
        yield
    finally:
        transport.close()


class _Server(asyncio.DatagramProtocol):
    def __init__(self, zone: Zone) -> None:
        self._zone = zone
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if self._transport is not None:
            self._transport.sendto(_reply(self._zone, data), addr)


def _reply(zone: Zone, query: bytes) -> bytes:
    name, kind, end = _question(query)
    zone.lookups[name] += 1
    addresses = zone.visible(name)
    found = () if addresses is None or kind != A else addresses
    code = NAME_ERROR if addresses is None else 0
    head = struct.pack("!2sHHHHH", query[:2], RESPONSE_FLAGS | code, 1, len(found), 0, 0)
    records = b"".join(_record(address, zone.ttl) for address in found)
    return head + query[12:end] + records


def _question(query: bytes) -> tuple[str, int, int]:
    labels: list[str] = []
    at = 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
    return ".".join(labels).lower(), kind, at + 5


def _record(address: str, ttl: int) -> bytes:
    pointer_to_question = 0xC00C
    return struct.pack("!HHHIH", pointer_to_question, A, IN, ttl, 4) + socket.inet_aton(address)
