"""May this request still leave, and has it left? Asked at the moment its bytes go to the socket."""

import asyncio
import math
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection
from yarl import URL

from firebolt_operator.errors import FencedError
from firebolt_operator.kube.ports import Fence


@dataclass(slots=True)
class Attempt:
    """One try at one write."""

    clock: asyncio.Timeout  # the deadline that covers the whole attempt
    fence: Fence | None
    is_sent: bool = False

    def admit(self) -> None:
        """Raises if the request must not leave any more."""
        if self.is_sent:
            # aiohttp repeats a PUT or DELETE by itself when a kept-alive connection breaks; that is ours to decide.
            raise aiohttp.ServerDisconnectedError("the connection broke after the request was sent")
        if self.clock.expired():
            raise TimeoutError
        if self.fence is not None:
            self._shorten(self.fence.remaining())
        self.is_sent = True

    def seconds_left(self) -> float:
        """Until our deadline and that of the fence, whichever is first; raises FencedError once the fence is closed."""
        ends_at = self.clock.when()
        ours = math.inf if ends_at is None else ends_at - asyncio.get_running_loop().time()
        return ours if self.fence is None else min(ours, self.fence.remaining())

    def _shorten(self, remaining: float) -> None:
        ends_at = asyncio.get_running_loop().time() + remaining
        planned = self.clock.when()
        self.clock.reschedule(ends_at if planned is None else min(planned, ends_at))


CURRENT: Final[ContextVar[Attempt | None]] = ContextVar("attempt", default=None)


class AdmittedRequest(aiohttp.ClientRequest):
    """A request that asks its attempt before the first byte leaves; everything we write has a body."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        attempt = CURRENT.get()
        if attempt is not None:
            # Not earlier: connecting took time. Otherwise a slow server could store what we gave up long ago.
            self.url = with_timeout(self.url, attempt.seconds_left())
        return await super().send(conn)

    async def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> None:
        attempt = CURRENT.get()
        try:
            if attempt is not None:
                attempt.admit()
        except (FencedError, TimeoutError, aiohttp.ClientError) as err:
            # aiohttp runs this method as a task of its own: whoever waits for the answer waits at the protocol,
            # and closes the connection on finding an error there.
            if conn.protocol is not None:
                conn.protocol.set_exception(err)
            return
        await super().write_bytes(writer, conn, content_length)


def with_timeout(url: URL, seconds: float) -> URL:
    """The API server's own deadline for the request; it takes its usual one (a minute) if that is shorter."""
    if not math.isfinite(seconds):
        return url
    milliseconds = max(int(seconds * 1000), 1)
    return URL(f"{url}{'&' if url.raw_query_string else '?'}timeout={milliseconds}ms", encoded=True)
