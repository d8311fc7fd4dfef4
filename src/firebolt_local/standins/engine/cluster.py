"""When has the cluster formed? When the metadata service answers and every node is there and alive."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
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


async def wait_until_formed(metadata_endpoint: str, hosts: Sequence[str], *, health_port: int) -> None:
    await _until_done("metadata service", partial(_require_metadata, metadata_endpoint))
    async with aiohttp.ClientSession(timeout=_PEER_TIMEOUT) as session, asyncio.TaskGroup() as group:
        for host in hosts:
            url = f"http://{host}:{health_port}/health/live"
            group.create_task(_until_done(f"node {host}", partial(_require_peer, session, url)), name=host)


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
