"""How is a request of the operator's put to the API server?"""

import ssl
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "host", "content-length", "content-encoding"}
)


@dataclass(frozen=True, slots=True)
class Upstream:
    session: aiohttp.ClientSession
    server: str  # https://host:port
    tls: ssl.SSLContext | None = None  # whom we believe; None: whom the machine believes

    def ask(
        self, request: web.Request, body: bytes = b"", path: str = ""
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """The client's own words, its token among them."""
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        return self.session.request(
            request.method,
            URL(self.server + (path or request.raw_path), encoded=True),
            data=body or None,
            headers=headers,
            ssl=self.tls or True,
            allow_redirects=False,
        )


@asynccontextmanager
async def to_server(server: str, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Upstream]:
    connector = aiohttp.TCPConnector(limit=0)
    # Watches last as long as they last, and whoever asks has a deadline.
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=False) as session:
        yield Upstream(session, server, tls)


def kept(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}


def hang_up(request: web.Request) -> web.Response:
    """Without a word: what aiohttp makes of the answer reaches nobody."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
