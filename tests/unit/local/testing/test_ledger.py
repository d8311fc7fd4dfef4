"""Is the ledger complete, even when a watch breaks off or the server has forgotten where it was?"""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from firebolt_local.testing.ledger import Ledger, _follow
from firebolt_operator.api.resources import PODS
from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.kube.ports import Page, Scope, WatchEvent


def a_body(name: str, version: int) -> bytes:
    return json.dumps({"metadata": {"name": name, "namespace": "shop", "resourceVersion": str(version)}}).encode()


@dataclass
class Server:
    lists: list[list[bytes]]
    watches: list[list[WatchEvent | Exception]]
    asked: list[str] = field(default_factory=list[str])
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def pages(self, _: Scope, /) -> AsyncGenerator[Page]:
        yield Page(self.lists.pop(0), "7")

    async def watch(self, _: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        self.asked.append(resource_version)
        if not self.watches:
            self.done.set()
            await asyncio.Event().wait()
        for event in self.watches.pop(0):
            if isinstance(event, Exception):
                raise event
            yield event


async def kept(server: Server) -> Ledger:
    ledger = Ledger()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(_follow(server, Scope(resource=PODS), ledger, asyncio.Event()), name="follow")
        await server.done.wait()
        task.cancel()
    return ledger


async def test_a_watch_that_breaks_off_goes_on_where_it_was() -> None:
    events: list[WatchEvent | Exception] = [WatchEvent("ADDED", a_body("b", 9)), TransientError("cut")]
    server = Server([[a_body("a", 5)]], [events])
    ledger = await kept(server)
    assert server.asked == ["7", "9"]
    assert [(each.version, each.name) for each in ledger.changes["shop"]] == [(5, "a"), (9, "b")]


async def test_what_went_while_nobody_watched_is_gone() -> None:
    server = Server([[a_body("a", 5), a_body("b", 6)], [a_body("b", 6)]], [[ExpiredError("too old")]])
    ledger = await kept(server)
    assert list(ledger.worlds["shop"]) == [("Pod", "b")]
