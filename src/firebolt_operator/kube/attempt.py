"""May this request still leave, and has it left? Asked at the moment its bytes go to the socket."""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from aiohttp.connector import Connection

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

    def _shorten(self, remaining: float) -> None:
        ends_at = asyncio.get_running_loop().time() + remaining
        planned = self.clock.when()
        self.clock.reschedule(ends_at if planned is None else min(planned, ends_at))


CURRENT: Final[ContextVar[Attempt | None]] = ContextVar("attempt", default=None)


class AdmittedRequest(aiohttp.ClientRequest):
    """A request that asks its attempt before the first byte leaves; everything we write has a body."""

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
