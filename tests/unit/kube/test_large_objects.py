"""What if somebody's objects are so large that a page of them fills the memory?"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest

from firebolt_operator.errors import AnswerTooLongError, TransientError, UnansweredError, UnreadableError
from firebolt_operator.kube import transport
from firebolt_operator.kube.page_size import LEAST_WHEN_SLOW, PageSize
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.refs import Manifest
from tests.unit.kube.wire import (
    CONFIG_MAPS,
    SETTINGS,
    Request,
    WireServer,
    a_client,
    a_config_map,
    answer,
    chunks,
    silence,
)

SCOPE = Scope(resource=CONFIG_MAPS, namespace="shop")
MIB = 1 << 20


@dataclass
class Shelf:
    """A server with objects of these sizes, which knows pages, tokens and how to leave all but metadata away."""

    sizes: Sequence[int]
    limits: list[int] = field(default_factory=list[int])
    metadata_only: list[str] = field(default_factory=list[str])

    async def __call__(self, request: Request, writer: asyncio.StreamWriter) -> None:
        query = parse_qs(urlsplit(request.target).query)
        start, limit = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        is_partial = "PartialObjectMetadataList" in request.headers["accept"]
        self.limits.append(limit)
        items = [self._item(number, is_partial) for number in range(start, min(start + limit, len(self.sizes)))]
        if is_partial:
            self.metadata_only += [each["metadata"]["name"] for each in items]
        token = str(start + limit) if start + limit < len(self.sizes) else ""
        body = {"metadata": {"resourceVersion": "42", "continue": token}, "items": items}
        await answer(200, body)(request, writer)

    def _item(self, number: int, is_partial: bool) -> Manifest:
        metadata = {"name": f"o{number}", "namespace": "shop", "uid": f"u{number}", "resourceVersion": str(number + 1)}
        content = {} if is_partial else {"data": {"x": "x" * self.sizes[number]}}
        return {"metadata": metadata, **content}


def names_of(pages: Sequence[Page]) -> list[str]:
    return [json.loads(item)["metadata"]["name"] for page in pages for item in page.items]


async def test_given_pages_that_are_too_long_then_smaller_ones_are_asked_for_until_all_is_there() -> None:
    shelf = Shelf([MIB] * 40)
    async with WireServer(shelf) as server, a_client(server.url) as client:
        pages = [page async for page in client.pages(SCOPE, limit=32)]
        first, shelf.limits = shelf.limits, []
        again = [page async for page in client.pages(SCOPE, limit=32)]
    everything = [f"o{number}" for number in range(40)]
    assert names_of(pages) == names_of(again) == everything
    assert first[:4] == [32, 16, 8, 4]
    assert max(shelf.limits) <= 4  # the next list has not forgotten


async def test_given_small_objects_behind_large_ones_then_pages_grow_again() -> None:
    shelf = Shelf([MIB] * 10 + [10] * 100)
    async with WireServer(shelf) as server, a_client(server.url) as client:
        pages = [page async for page in client.pages(SCOPE, limit=32)]
    assert len(names_of(pages)) == 110
    assert shelf.limits[-1] == 32


async def test_given_one_object_that_fits_nowhere_then_it_is_set_aside_by_its_metadata() -> None:
    shelf = Shelf([10, 10, transport.ANSWER_LIMIT, 10])
    async with WireServer(shelf) as server, a_client(server.url) as client:
        pages = [page async for page in client.pages(SCOPE, limit=2)]
    aside = [item for page in pages for item in page.items if isinstance(item, SetAside)]
    assert names_of(pages) == ["o0", "o1", "o2", "o3"]
    assert [json.loads(item)["metadata"]["uid"] for item in aside] == ["u2"]
    assert shelf.metadata_only == ["o2"]


def test_given_a_server_that_is_too_slow_then_questions_stay_small_until_a_list_succeeds() -> None:
    size = PageSize(500)
    size.too_slow()
    assert (size.now, size.ceiling) == (250, 250)
    size.took(10)
    assert size.now == 250  # not before a whole list has succeeded
    size.ended()
    size.took(10)
    assert size.now == 500
    for _ in range(20):
        size.too_slow()
    assert size.now == LEAST_WHEN_SLOW


async def test_an_object_too_large_to_be_read_is_there_and_unreadable() -> None:
    large = answer(200, a_config_map(data={"x": "x" * transport.ANSWER_LIMIT}))
    outline = answer(200, {"kind": "PartialObjectMetadata", "metadata": a_config_map()["metadata"]})
    async with WireServer(large, outline, large, outline) as server, a_client(server.url) as client:
        found = await client.get_raw(SETTINGS)
        with pytest.raises(UnreadableError):
            await client.get(SETTINGS)
    assert isinstance(found, SetAside)
    assert json.loads(found) == {"metadata": {"name": "settings", "namespace": "shop"}}


async def test_an_answer_that_is_too_long_is_not_asked_for_again_as_it_is() -> None:
    large = answer(200, b"x" * (transport.ANSWER_LIMIT + 1))
    async with WireServer(large) as server, a_client(server.url) as client:
        with pytest.raises(AnswerTooLongError, match="reading ConfigMap shop/settings"):
            await client.get(SETTINGS)
        assert len(server.requests) == 2  # the whole, and its metadata


async def test_an_answer_to_a_write_that_is_too_long_is_no_answer() -> None:
    large = answer(200, b"x" * (transport.ANSWER_LIMIT + 1))
    async with WireServer(large) as server, a_client(server.url) as client:
        with pytest.raises(UnansweredError):
            await client.apply(a_config_map())
        assert len(server.requests) == 1


async def test_given_an_event_that_is_too_long_then_it_is_set_aside_and_the_watch_goes_on() -> None:
    metadata = {"name": "big", "namespace": "shop", "resourceVersion": "7", "uid": "u7", "labels": {"a": "b"}}
    long = json.dumps({"type": "MODIFIED", "object": {"kind": "ConfigMap", "metadata": metadata, "data": {"x": "y"}}})
    long = long.replace('"y"', json.dumps("y" * (transport.ANSWER_LIMIT + 100)))
    short = json.dumps({"type": "DELETED", "object": {"metadata": {"name": "small", "resourceVersion": "8"}}})
    text = f"{long}\n{short}\n".encode()
    parts = [text[at : at + 60_000] for at in range(0, len(text), 60_000)]
    async with WireServer(chunks(*parts), silence) as server, a_client(server.url) as client:
        events = [event async for event in client.watch(SCOPE, resource_version="6")]
    assert [event.type for event in events] == ["MODIFIED", "DELETED"]
    assert isinstance(events[0].body, SetAside)
    assert json.loads(events[0].body) == {"metadata": metadata}


async def test_given_a_page_that_did_not_come_in_time_then_the_next_list_asks_for_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shelf, limits = Shelf([10] * 3), list[str]()
    async with WireServer(shelf) as server, a_client(server.url) as client:
        exchange = transport.Transport.exchange

        async def late(self: transport.Transport, call: transport.Call) -> transport.Answer:
            limits.append(call.path.rpartition("limit=")[2])
            if len(limits) == 1:
                raise TransientError("the deadline passed") from TimeoutError()
            return await exchange(self, call)

        monkeypatch.setattr(transport.Transport, "exchange", late)
        with pytest.raises(TransientError):
            await client.list(SCOPE)
        assert len(await client.list(SCOPE)) == 3
        await client.list(SCOPE)
        await client.list(SCOPE)
    assert limits == ["500", "250", "250", "500"]
