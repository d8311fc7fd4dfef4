"""Where is a host of a cluster, for a client beside the cluster, whom its DNS does not serve?

Clients that verify certificates have to ask for a name: an address is in no certificate.
"""

import errno
import socket
from collections.abc import Mapping

from aiohttp.abc import AbstractResolver, ResolveResult


class GivenHosts(AbstractResolver):
    """Knows the hosts that it was given, and no others."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        del family  # the addresses of a local cluster are of one family
        if host not in self._addresses:
            raise OSError(errno.EADDRNOTAVAIL, f"nobody said where {host} is")
        found = ResolveResult(
            hostname=host, host=self._addresses[host], port=port, family=socket.AF_INET, proto=0, flags=0
        )
        return [found]

    async def close(self) -> None:
        """There is nothing to close."""
