"""How does an HTTP application listen, and stop listening?"""

import ssl
from dataclasses import dataclass, field
from typing import Final, Protocol

from aiohttp import web

from firebolt_operator.errors import ConfigurationError

CLOSING_SECONDS: Final = 1.0  # what a request under way gets when the server stops


class Server(Protocol):
    @property
    def name(self) -> str: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BindAddress:
    host: str | None  # None means every interface
    port: int  # 0 means any that is free


def parse_bind_address(text: str) -> BindAddress:
    """`:8081`, `127.0.0.1:8081` or `[::1]:8081`."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise ConfigurationError(f"invalid bind address {text!r}: want host:port or :port")
    return BindAddress(host.strip("[]") or None, int(port))


@dataclass(slots=True)
class HttpServer:
    name: str
    app: web.Application
    address: BindAddress
    tls: ssl.SSLContext | None = None
    _runner: web.AppRunner | None = field(default=None, init=False)

    async def start(self) -> None:
        """Raises ConfigurationError if the address is taken."""
        self._runner = web.AppRunner(self.app, access_log=None, shutdown_timeout=CLOSING_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.address.host, self.address.port, ssl_context=self.tls)
        try:
            await site.start()
        except OSError as err:
            await self.stop()
            raise ConfigurationError(f"the {self.name} server cannot listen on {self.address}: {err}") from err

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def port(self) -> int:
        """Where it listens, also if any port was asked for."""
        if self._runner is None or not self._runner.addresses:
            raise RuntimeError(f"the {self.name} server does not listen")
        return int(self._runner.addresses[0][1])
