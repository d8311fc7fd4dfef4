"""One object that cannot be decoded: does everything else go on, at every way through the door?"""

import json
from contextlib import aclosing
from typing import Any

import pytest

from firebolt_operator.errors import TransientError, UnansweredError, UnreadableError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.set_aside import LARGE, SetAside, outline
from tests.support.deep import deep_text, with_depth
from tests.unit.kube.wire import (
    CONFIG_MAPS,
    SETTINGS,
    WRITES,
    SpokenObserver,
    WireServer,
    Write,
    a_client,
    a_config_map,
    a_lease,
    answer,
    chunks,
)

SCOPE = Scope(resource=CONFIG_MAPS, namespace="shop")
METADATA = {
    "name": "settings",
    "namespace": "shop",
    "uid": "u-1",
    "resourceVersion": "7",
    "labels": {"team": "a"},
    "ownerReferences": [{"uid": "o-1", "controller": True}],
}
HOSTILE = a_config_map() | {"metadata": METADATA}
IN_SPEC = with_depth(HOSTILE, "spec", "customEngineConfig")
IN_METADATA = with_depth(HOSTILE, "metadata", "managedFields")
AT_THE_TOP = with_depth(HOSTILE, "data")
LARGE_ONE = with_depth(HOSTILE | {"data": {"blob": "x" * LARGE}}, "spec", "deep")
DEPTHS = [
    pytest.param(IN_SPEC, id="spec"),
    pytest.param(IN_METADATA, id="managed-fields"),
    pytest.param(AT_THE_TOP, id="data"),
    pytest.param(LARGE_ONE, id="large"),
    pytest.param(with_depth(HOSTILE, "spec", levels=9_990), id="as-deep-as-the-server-takes"),
]


def read(body: bytes) -> Any:
    return json.loads(body)


@pytest.mark.parametrize("hostile", DEPTHS)
def test_an_outline_keeps_all_that_is_shallow(hostile: bytes) -> None:
    kept = read(outline(hostile))
    assert (kept["kind"], kept["metadata"]) == ("ConfigMap", METADATA)


def test_an_outline_keeps_the_neighbours_of_what_is_deep() -> None:
    hostile = with_depth(HOSTILE | {"spec": {"engineClassRef": "small"}}, "spec", "customEngineConfig")
    assert read(outline(hostile))["spec"] == {"engineClassRef": "small"}


@pytest.mark.parametrize("broken", ['"\\ud"', "tru", '"\udcff"'])
def test_an_outline_leaves_out_what_is_malformed(broken: str) -> None:
    text = json.dumps(HOSTILE).replace('"u-1"', broken).encode(errors="surrogateescape")
    assert read(outline(text))["metadata"] == {name: value for name, value in METADATA.items() if name != "uid"}


@pytest.mark.parametrize("hostile", DEPTHS)
async def test_a_list_sets_one_item_aside_alone(hostile: bytes) -> None:
    good = [json.dumps(a_config_map(name)).encode() for name in ("one", "two")]
    items = b",".join([good[0], hostile, good[1]])
    body = b'{"kind":"List","metadata":{"resourceVersion":"9","continue":""},"items":[' + items + b"]}"
    async with WireServer(answer(200, body)) as server, a_client(server.url) as client:
        pages = [page async for page in client.pages(SCOPE)]
        names = [item["metadata"]["name"] for item in await client.list(SCOPE)]
    assert [page.resource_version for page in pages] == ["9"]
    first, aside, last = pages[0].items
    assert [first, last] == good
    assert isinstance(aside, SetAside)
    assert read(aside)["metadata"] == METADATA
    assert names == ["one", "two"]


async def test_a_list_left_out_of_is_told_by_name(caplog: pytest.LogCaptureFixture) -> None:
    body = b'{"metadata":{"resourceVersion":"9"},"items":[' + IN_SPEC + b"]}"
    async with WireServer(answer(200, body)) as server, a_client(server.url) as client:
        assert await client.list(SCOPE) == []
    assert [vars(record)["key"] for record in caplog.records] == ["shop/settings"]


async def test_a_list_of_many_pages_goes_on_after_the_one_with_the_culprit() -> None:
    bodies = [
        b'{"metadata":{"resourceVersion":"9","continue":"more"},"items":[' + IN_SPEC + b"]}",
        b'{"metadata":{"resourceVersion":"9"},"items":null}',
    ]
    async with WireServer(*(answer(200, body) for body in bodies)) as server, a_client(server.url) as client:
        assert [len(page.items) async for page in client.pages(SCOPE)] == [1, 0]
        assert "continue=more" in server.requests[1].target


@pytest.mark.parametrize("hostile", DEPTHS)
async def test_a_watch_goes_on_behind_the_culprit(hostile: bytes) -> None:
    good = json.dumps(a_config_map()).encode()
    lines = [b'{"type":"%b","object":%b}\n' % (kind, body) for kind, body in ((b"ADDED", hostile), (b"MODIFIED", good))]
    async with (
        WireServer(chunks(*lines)) as server,
        a_client(server.url) as client,
        aclosing(client.watch(SCOPE, resource_version="1")) as watch,
    ):
        events = [event async for event in watch]
    assert [event.type for event in events] == ["ADDED", "MODIFIED"]
    assert isinstance(events[0].body, SetAside)
    assert read(events[0].body)["metadata"] == METADATA
    assert events[1].body == good


@pytest.mark.parametrize(
    "line", [b'{"type":"ADDED"}', b'{"type":"ADDED","object":' + deep_text().encode(), b"nonsense", b'{"object":{}}']
)
async def test_what_is_no_event_at_all_still_ends_the_watch(line: bytes) -> None:
    async with WireServer(chunks(line + b"\n")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match="an event is not JSON"):
            async with aclosing(client.watch(SCOPE, resource_version="1")) as watch:
                await anext(watch)


@pytest.mark.parametrize("hostile", DEPTHS)
async def test_a_read_says_that_it_is_there(hostile: bytes) -> None:
    async with WireServer(answer(200, hostile)) as server, a_client(server.url) as client:
        with pytest.raises(
            UnreadableError, match="reading ConfigMap shop/settings: it is there, but cannot be decoded"
        ):
            await client.get(SETTINGS)
        found = await client.get_raw(SETTINGS)
    assert isinstance(found, SetAside)
    assert read(found)["metadata"] == METADATA


@pytest.mark.parametrize("hostile", DEPTHS)
@pytest.mark.parametrize("write", [write for write in WRITES if write.id != "delete"])
async def test_a_write_whose_answer_is_unreadable_happened_and_is_told(write: Write, hostile: bytes) -> None:
    observer = SpokenObserver()
    async with WireServer(answer(200, hostile)) as server, a_client(server.url, observer=observer) as client:
        with pytest.raises(UnreadableError, match="done, but what is stored now cannot be decoded"):
            await write(client)
        assert len(server.requests) == 1
    (heard,) = observer.heard
    assert heard[:2] == ("written", SETTINGS)


async def test_a_deletion_needs_no_more_than_the_outline() -> None:
    ending = HOSTILE | {"metadata": METADATA | {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x"]}}
    observer = SpokenObserver()
    steps = answer(200, with_depth(ending, "spec", "deep")), answer(200, IN_SPEC)
    async with WireServer(*steps) as server, a_client(server.url, observer=observer) as client:
        await client.delete(SETTINGS, uid="u-1")
        await client.delete(SETTINGS, uid="u-1")
    assert [told[0] for told in observer.heard] == ["written", "deleted"]


async def test_given_a_conflict_over_the_uid_then_an_unreadable_successor_is_another_object() -> None:
    steps = answer(409, {"reason": "Conflict"}), answer(200, IN_SPEC)
    async with WireServer(*steps) as server, a_client(server.url) as client:
        await client.delete(SETTINGS, uid="somebody-else")
        assert [request.method for request in server.requests] == ["DELETE", "GET"]


async def test_a_lease_that_cannot_be_read_is_named_and_not_a_crash() -> None:
    body = with_depth(a_lease(), "spec", "deep")
    async with WireServer(answer(200, body)) as server, a_client(server.url) as client:
        with pytest.raises(UnreadableError, match="Lease"):
            await client.leases.update(a_lease(), timeout_seconds=5)


async def test_an_answer_that_was_cut_off_in_the_depth_is_none() -> None:
    async with WireServer(answer(200, IN_SPEC[:-3000])) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match="not a whole JSON object"):
            await client.get(SETTINGS)
        with pytest.raises(UnansweredError, match="not a whole JSON object"):
            await client.apply(a_config_map())
        with pytest.raises(TransientError, match="not a whole list"):
            _ = [page async for page in client.pages(SCOPE)]
