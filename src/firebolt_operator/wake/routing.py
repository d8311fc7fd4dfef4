"""Can Envoy send a query to this engine by now? It may remember for a moment that the engine had no address."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Protocol

from firebolt_operator.api import names
from firebolt_operator.wake.envoy_admin import EnvoyAdmin

RESOLVE_SECONDS: Final = 2.0

Resolve = Callable[[str], Awaitable[bool]]
"""Whether a host name has an address."""


class Routes(Protocol):
    async def lead_to(self, engine: str, addresses: Iterable[str], /) -> bool: ...


class EnvoyRoutes:
    def __init__(self, admin: EnvoyAdmin, namespace: str, resolve: Resolve) -> None:
        self._admin = admin
        self._namespace = namespace
        self._resolve = resolve

    async def lead_to(self, engine: str, addresses: Iterable[str], /) -> bool:
        """DNS first: without a cluster for the engine Envoy asks it at the next query, and must get an answer."""
        host = service_host(engine, self._namespace)
        if not await self._resolve(host):
            return False
        lines = await self._admin.clusters(f"DFPCluster:{names.engine_service_name(engine)}.")
        # Whoever cannot ask Envoy must not keep queries from it.
        return lines is None or is_routable(lines, host, addresses)


def service_host(engine: str, namespace: str) -> str:
    return f"{names.engine_service_name(engine)}.{namespace}.svc.cluster.local"


def is_routable(lines: str, host: str, addresses: Iterable[str]) -> bool:
    """One healthy address of those that are ready is enough. Without a cluster Envoy makes one at the next query."""
    cluster = f"DFPCluster:{host}:{names.PORT_QUERY}::"
    facts = {line.removeprefix(cluster) for line in lines.splitlines() if line.startswith(cluster)}
    return not facts or any(f"{_upstream(address)}::health_flags::healthy" in facts for address in addresses)


def _upstream(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return f"{address}:{names.PORT_QUERY}"
    host = f"[{parsed.compressed}]" if parsed.version == 6 else parsed.compressed
    return f"{host}:{names.PORT_QUERY}"


async def has_address(host: str) -> bool:
    """Asks the system's resolver for exactly this name: the final dot leaves the search list out."""
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            loop = asyncio.get_running_loop()
            return bool(await loop.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError):
        return False
