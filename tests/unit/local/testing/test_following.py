"""Does following miss nothing, even when a watch ends or the server has forgotten where it was?"""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from firebolt_local.testing.following import follow
from firebolt_operator.api.resources import PODS
from firebolt_operator.errors import ExpiredError
from firebolt_operator.kube.ports import EventType, Page, Scope, WatchEvent
from firebolt_operator.refs import Manifest

SCOPE = Scope(resource=PODS, namespace="default")


def a_body(name: str) -> bytes:
    return json.dumps({"metadata": {"name": name, "uid": name}}).encode()


@dataclass
class Server:
    """Lists what it is told to, one list per round, then plays that round's events."""

    rounds: list[tuple[list[str], list[WatchEvent | Exception]]]
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def pages(self, _: Scope, /) -> AsyncGenerator[Page]:
        yield Page([a_body(name) for name in self.rounds[0][0]], "7")

    async def watch(self, _: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]:
        assert resource_version == "7"
        for event in self.rounds.pop(0)[1]:
            if isinstance(event, Exception):
                raise event
            yield event
        if not self.rounds:
            self.done.set()
            await asyncio.Event().wait()


async def followed(server: Server) -> list[tuple[EventType, str]]:
    seen: list[tuple[EventType, str]] = []

    def see(kind: EventType, manifest: Manifest) -> None:
        seen.append((kind, manifest["metadata"]["name"]))

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(follow(server, SCOPE, see), name="follow")
        await server.done.wait()
        task.cancel()
    return seen


async def test_what_is_there_comes_first_then_what_happens() -> None:
    events = [
        WatchEvent("ADDED", a_body("b")),
        WatchEvent("BOOKMARK", b"{}"),
        WatchEvent("DELETED", a_body("a")),
    ]
    assert await followed(Server([(["a"], [*events])])) == [("MODIFIED", "a"), ("ADDED", "b"), ("DELETED", "a")]


async def test_what_went_while_nobody_watched_is_told_too() -> None:
    first: list[WatchEvent | Exception] = [WatchEvent("ADDED", a_body("b")), ExpiredError("too old")]
    server = Server([(["a"], first), (["a", "c"], [])])
    assert await followed(server) == [
        ("MODIFIED", "a"),
        ("ADDED", "b"),
        ("DELETED", "b"),
        ("MODIFIED", "a"),
        ("MODIFIED", "c"),
    ]
