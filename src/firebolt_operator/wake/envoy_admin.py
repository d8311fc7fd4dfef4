"""What does the Envoy beside us say about itself? Questions to its admin listener, bounded in time and size."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote

import aiohttp
from yarl import URL

CALL_SECONDS: Final = 2.0
STATS_LIMIT: Final = 64 << 10  # bytes
CLUSTERS_LIMIT: Final = 4 << 20
MOST_DIGITS: Final = 20  # of a counter in 64 bits
MEMORY_STAT: Final = "server.memory_allocated"

log = logging.getLogger(__name__)


class EnvoyAdmin:
    """Every answer may be None: Envoy is away, slow, or says something else than 200."""

    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self._base = base.rstrip("/")  # empty: there is nobody to ask
        self._session = session

    async def allocated_memory(self) -> int | None:
        """Bytes."""
        text = await self._text(f"/stats?filter={MEMORY_STAT}", STATS_LIMIT)
        return None if text is None else parse_memory(text)

    async def clusters(self, prefix: str) -> str | None:
        """One line per fact about clusters whose names contain the prefix; others may be among them."""
        return await self._text(f"/clusters?filter={quote(prefix, safe=':')}", CLUSTERS_LIMIT)

    async def is_gone(self) -> bool:
        """Nobody listens there. An Envoy that is slow or sick is still there."""
        if not self._base:
            return True
        try:
            async with self._session.get(f"{self._base}/ready", allow_redirects=False):
                return False
        except aiohttp.ClientConnectorError as err:
            return isinstance(err.os_error, ConnectionRefusedError)
        except (aiohttp.ClientError, OSError):
            return False

    async def _text(self, path: str, limit: int) -> str | None:
        if not self._base:
            return None
        try:
            async with self._session.get(URL(self._base + path, encoded=True), allow_redirects=False) as answer:
                return await _bounded_text(answer, limit) if answer.status == 200 else None
        except (aiohttp.ClientError, OSError) as err:
            log.debug("Envoy's admin did not answer", extra={"path": path, "error": err})
            return None


@asynccontextmanager
async def admin_session() -> AsyncGenerator[aiohttp.ClientSession]:
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


async def _bounded_text(answer: aiohttp.ClientResponse, limit: int) -> str | None:
    body = bytearray()
    async for part in answer.content.iter_any():
        body += part
        if len(body) > limit:
            return None
    return body.decode(errors="replace")


def parse_memory(text: str) -> int | None:
    for line in text.splitlines():
        name, _, value = line.partition(": ")
        if name == MEMORY_STAT and len(value) <= MOST_DIGITS and value.isascii() and value.isdecimal():
            return int(value)
    return None
