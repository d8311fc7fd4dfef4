"""When has the cluster formed? When the metadata service answers and every node is there, alive, and who it says."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import aiohttp

from firebolt_local.standins.engine.metadata_probe import NoAnswerError, metadata_status
from firebolt_local.standins.health_messages import ServingStatus

RETRY_SECONDS: Final = 0.5
_PEER_TIMEOUT: Final = aiohttp.ClientTimeout(total=3)

log = logging.getLogger(__name__)


class NotYetError(Exception):
    """Something that the cluster needs is missing still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    """All nodes, this one among them. With TLS they are asked where queries are, and have to prove their names."""

    hosts: Sequence[str]
    port: int
    tls: ssl.SSLContext | None = None

    def url(self, host: str) -> str:
        return f"{'http' if self.tls is None else 'https'}://{host}:{self.port}/health/live"


async def wait_until_formed(metadata_endpoint: str, peers: Peers) -> None:
    await _until_done("metadata service", partial(_require_metadata, metadata_endpoint))
    connector = aiohttp.TCPConnector(ssl=True if peers.tls is None else peers.tls)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=_PEER_TIMEOUT) as session,
        asyncio.TaskGroup() as group,
    ):
        for host in peers.hosts:
            attempt = partial(_require_peer, session, peers.url(host))
            group.create_task(_until_done(f"node {host}", attempt), name=host)


async def _until_done(what: str, attempt: Callable[[], Awaitable[None]]) -> None:
    said = ""
    while True:
        try:
            await attempt()
        except NotYetError as err:
            if str(err) != said:
                said = str(err)
                log.info("waiting for %s: %s", what, said)
            await asyncio.sleep(RETRY_SECONDS)
        else:
            log.info("%s answers", what)
            return


async def _require_metadata(endpoint: str) -> None:
    try:
        status = await metadata_status(endpoint)
    except NoAnswerError as err:
        raise NotYetError(str(err)) from err
    if status is not ServingStatus.SERVING:
        raise NotYetError(f"it says {status.name}")


async def _require_peer(session: aiohttp.ClientSession, url: str) -> None:
    try:
        async with session.get(url) as response:
            status = response.status
    except (aiohttp.ClientError, TimeoutError) as err:
        raise NotYetError(str(err) or type(err).__name__) from err
    if status != 200:
        raise NotYetError(f"HTTP {status}")
