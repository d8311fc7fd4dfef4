"""A stand-in for the wake agent's hold endpoint: it answers what a test wants, and counts how often it was asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support.dataplane.http_messages import Message, MessageReader, answer
from tests.support.dataplane.ledger import parameter

DECISION = "x-firebolt-wake-decision"


@dataclass(slots=True)
class HoldAgent:
    status: int = 200
    decision: str = "ready"  # empty: the header is missing, as when something else answers
    is_holding: bool = False  # questions wait until release()
    asked: Counter[str] = field(default_factory=Counter[str])
    _held: list["_Connection"] = field(default_factory=list["_Connection"])

    @property
    def waiting(self) -> int:
        return len(self._held)

    def release(self, status: int = 200, decision: str = "released") -> None:
        self.is_holding = False
        while self._held:
            self._held.pop().send(status, decision)

    def take(self, connection: "_Connection", engine: str) -> None:
        self.asked[engine] += 1
        if self.is_holding:
            self._held.append(connection)
            return
        connection.send(self.status, self.decision)

    def drop(self, connection: "_Connection") -> None:
        if connection in self._held:
            self._held.remove(connection)


@asynccontextmanager
async def serving_holds(agent: HoldAgent, address: str, port: int, backlog: int) -> AsyncGenerator[None]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(agent), address, port, backlog=backlog, reuse_address=True)
    try:
        yield
    finally:
        server.close()


class _Connection(asyncio.Protocol):
    def __init__(self, agent: HoldAgent) -> None:
        self._agent = agent
        self._reader = MessageReader()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a TCP connection without a TCP transport")
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base class names it
        self._agent.drop(self)

    def data_received(self, data: bytes) -> None:
        message: Message | None = self._reader.feed(data)
        if message is not None:
            self._agent.take(self, parameter(message.target, "engine"))

    def send(self, status: int, decision: str) -> None:
        if self._transport is not None:
            self._transport.write(answer(status, headers={DECISION: decision} if decision else None))
