"""What comes out of a watch, whatever comes in?"""

import asyncio
import json
from contextlib import aclosing

import pytest

from firebolt_operator.errors import ExpiredError, ForbiddenError, OperatorError, TransientError
from firebolt_operator.kube import watch
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope, WatchEvent
from firebolt_operator.refs import Manifest
from tests.unit.kube.wire import (
    CONFIG_MAPS,
    SETTINGS,
    Request,
    Step,
    WireServer,
    a_client,
    a_config_map,
    answer,
    chunks,
    raw,
    silence,
    status,
)

SCOPE = Scope(resource=CONFIG_MAPS, namespace="shop", labels="app=web")


def line(kind: str, thing: Manifest) -> bytes:
    return json.dumps({"type": kind, "object": thing}).encode() + b"\n"


async def collected(client: KubeClient) -> list[WatchEvent]:
    async with aclosing(client.watch(SCOPE, resource_version="7")) as events:
        return [event async for event in events]


async def test_a_watch_asks_for_bookmarks_and_for_its_own_end() -> None:
    async with WireServer(chunks()) as server, a_client(server.url) as client:
        assert await collected(client) == []
        target = server.requests[0].target
    seconds = int(target.rpartition("timeoutSeconds=")[2])
    assert 300 <= seconds <= 600
    assert target.startswith(
        "/api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb&watch=true&allowWatchBookmarks=true&resourceVersion=7"
    )


async def test_events_arrive_whole_however_they_are_cut() -> None:
    stream = b"".join(
        [line("ADDED", a_config_map("a")), line("MODIFIED", a_config_map("b")), line("BOOKMARK", a_config_map("c"))]
    )
    pieces = chunks(*(stream[at : at + 7] for at in range(0, len(stream), 7)))
    async with WireServer(pieces) as server, a_client(server.url) as client:
        seen = [(event.type, json.loads(event.body)["metadata"]["name"]) for event in await collected(client)]
    assert seen == [("ADDED", "a"), ("MODIFIED", "b"), ("BOOKMARK", "c")]


async def test_a_line_of_many_megabytes_is_one_event() -> None:
    huge = a_config_map(data={"blob": "x" * (5 << 20)})
    stream = chunks(line("ADDED", huge) + line("DELETED", a_config_map()))
    async with WireServer(stream) as server, a_client(server.url) as client:
        added, deleted = await collected(client)
    assert json.loads(added.body) == huge
    assert deleted.type == "DELETED"


@pytest.mark.parametrize(
    ("step", "kind", "words"),
    [
        pytest.param(
            chunks(line("ERROR", status(410, "Expired", "too old resource version"))),
            ExpiredError,
            "too old resource version",
            id="too-old-while-watching",
        ),
        pytest.param(answer(410, status(410, "Expired", "gone")), ExpiredError, "gone", id="too-old-at-the-start"),
        pytest.param(
            chunks(line("ERROR", status(500, "InternalError", "storage broke"))),
            TransientError,
            "storage broke",
            id="another-error-while-watching",
        ),
        pytest.param(answer(403, status(403, "Forbidden", "no")), ForbiddenError, "no", id="no-right"),
        pytest.param(chunks(line("SOMETHING", {})), TransientError, "unknown type 'SOMETHING'", id="unknown-type"),
        pytest.param(chunks(b"{{{\n"), TransientError, "not JSON", id="garbage"),
        pytest.param(chunks(b'{"type":"ADD'), TransientError, "in the middle of an event", id="ends-inside-an-event"),
        pytest.param(
            raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", closes=True),
            TransientError,
            "watching configmaps in shop",
            id="connection-breaks",
        ),
    ],
)
async def test_watch_errors(step: Step, kind: type[OperatorError], words: str) -> None:
    async with WireServer(step) as server, a_client(server.url) as client:
        with pytest.raises(kind, match=words) as caught:
            await collected(client)
    assert str(caught.value).startswith("watching configmaps in shop (app=web)")


async def test_events_before_an_error_are_not_lost() -> None:
    parts = chunks(line("ADDED", a_config_map()) + line("ERROR", status(410, "Expired", "too old")))
    async with WireServer(parts) as server, a_client(server.url) as client:
        events = client.watch(SCOPE, resource_version="7")
        assert (await anext(events)).type == "ADDED"
        with pytest.raises(ExpiredError):
            await anext(events)


async def test_given_a_peer_that_went_silent_then_the_watch_ends_as_if_the_server_had_ended_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "SILENCE_SECONDS", 0.05)

    async def opened_then_silent(request: Request, writer: asyncio.StreamWriter) -> None:
        await raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")(request, writer)
        await silence(request, writer)

    async with WireServer(opened_then_silent) as server, a_client(server.url) as client:
        assert await collected(client) == []


async def test_a_watch_that_is_left_gives_its_connection_up() -> None:
    ends = chunks(line("ADDED", a_config_map()), line("ADDED", a_config_map()))
    async with WireServer(ends, answer(200, a_config_map())) as server, a_client(server.url) as client:
        async with aclosing(client.watch(SCOPE, resource_version="7")) as events:
            await anext(events)
        await client.get_raw(SETTINGS)
        assert server.connections == 2
