"""Does the proxy do to a request what it is told, to that one only, and leave everything else as it is?"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest
from aiohttp import web

from firebolt_local.campaign.faults.fault import parse_fault
from firebolt_local.campaign.proxy.recording import Watchman
from firebolt_local.campaign.proxy.server import fault_proxy, listening
from firebolt_local.campaign.proxy.upstream import to_server

SERVICES = "/api/v1/namespaces/shop/services"
PATCH = f"{SERVICES}/eng"
WATCH = f"{SERVICES}?watch=true&resourceVersion=7"
EVENTS: list[dict[str, object]] = [{"type": "ADDED", "object": {"n": n}} for n in range(3)]
BOOKMARK: dict[str, object] = {"type": "BOOKMARK", "object": {}}


@dataclass(slots=True)
class ApiServer:
    """Takes what comes and tells three events."""

    seen: list[str] = field(default_factory=list[str])
    tokens: set[str] = field(default_factory=set[str])
    events: list[dict[str, object]] = field(default_factory=lambda: EVENTS)
    is_open: asyncio.Event | None = None  # until it is set a watch stays open

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(f"{request.method} {request.raw_path}")
        self.tokens.add(request.headers.get("Authorization", ""))
        if "watch" not in request.query:
            return web.json_response({"body": (await request.read()).decode()}, headers={"X-Kept": "yes"})
        stream = web.StreamResponse()
        await stream.prepare(request)
        for event in self.events:
            await stream.write(json.dumps(event).encode() + b"\n")
        if self.is_open is not None:
            await self.is_open.wait()
        return stream


@dataclass(frozen=True, slots=True)
class Place:
    server: ApiServer
    watchman: Watchman
    client: aiohttp.ClientSession

    async def patch(self) -> tuple[int, dict[str, str]]:
        async with self.client.patch(PATCH, data=b"{}") as answer:
            return answer.status, await answer.json()

    async def watched(self) -> list[dict[str, object]]:
        async with self.client.get(WATCH) as answer:
            return [json.loads(line) async for line in answer.content]


@asynccontextmanager
async def api_server(server: ApiServer) -> AsyncGenerator[str]:
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.serve)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def place() -> AsyncGenerator[Place]:
    server, watchman = ApiServer(), Watchman()
    async with (
        api_server(server) as behind,
        to_server(behind) as upstream,
        listening(fault_proxy(upstream, watchman)) as address,
        aiohttp.ClientSession(address, headers={"Authorization": "Bearer mine"}) as client,
    ):
        yield Place(server, watchman, client)


async def test_without_a_fault_everything_passes(place: Place) -> None:
    place.watchman.arm(None)
    async with place.client.patch(f"{PATCH}?a=%26", data=b"text") as answer:
        assert (answer.status, answer.headers["X-Kept"]) == (200, "yes")
        assert await answer.json() == {"body": "text"}
    assert await place.watched() == EVENTS
    assert place.server.seen == [f"PATCH {PATCH}?a=%26", f"GET {WATCH}"]
    assert place.server.tokens == {"Bearer mine"}
    assert [str(each.name) for each in place.watchman.passed] == [
        "patch services 1",
        "watch services 1",
        "watch services 2",
        "watch services 3",
    ]
    assert [str(name) for name in place.watchman.writes] == ["patch services 1"]


@pytest.mark.parametrize("code", ["409", "429", "500", "503"])
async def test_an_answer_in_place_of_the_servers(place: Place, code: str) -> None:
    place.watchman.arm(parse_fault(f"{code} patch services 2"))
    answers = [await place.patch() for _ in range(3)]
    assert [status for status, _ in answers] == [200, int(code), 200]
    assert answers[1][1]["kind"] == "Status"
    assert len(place.server.seen) == 2


async def test_a_busy_server_says_when_to_come_again(place: Place) -> None:
    place.watchman.arm(parse_fault("429=3 patch services 1"))
    async with place.client.patch(PATCH) as answer:
        assert answer.headers["Retry-After"] == "3"


@pytest.mark.parametrize(("harm", "seen"), [("cut-before", 0), ("cut-after", 1)])
async def test_a_cut_connection(place: Place, harm: str, seen: int) -> None:
    place.watchman.arm(parse_fault(f"{harm} patch services 1"))
    with pytest.raises(aiohttp.ClientError):
        await place.patch()
    assert len(place.server.seen) == seen
    assert place.watchman.struck.is_set()


@pytest.mark.parametrize(("harm", "seen"), [("kill-before", 0), ("kill-after", 1)])
async def test_a_process_is_ended_when_the_server_has_or_has_not_seen_it(place: Place, harm: str, seen: int) -> None:
    at_the_end = list[int]()
    place.watchman.arm(
        parse_fault(f"{harm} patch services 1"), strike=lambda _: at_the_end.append(len(place.server.seen))
    )
    with pytest.raises(aiohttp.ClientError):
        await place.patch()
    assert at_the_end == [seen]


async def test_what_is_held_is_dropped_when_its_client_hangs_up(place: Place) -> None:
    place.watchman.arm(parse_fault("delay=60 patch services 1"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await place.patch()
    assert (await place.patch())[0] == 200
    assert len(place.server.seen) == 1, "the held one was sent after all"


async def test_a_process_that_stood_still_and_hangs_up_has_sent_nothing(place: Place) -> None:
    place.watchman.arm(parse_fault("stop patch services 1"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await place.patch()
    place.watchman.is_going_on.set()
    await place.watchman.is_decided.wait()
    assert (place.server.seen, place.watchman.has_landed) == ([], False)


async def test_a_late_event_holds_up_those_behind_it(place: Place) -> None:
    place.watchman.arm(parse_fault("late=0.3 watch services 2"))
    clock, came_at = asyncio.get_running_loop().time, list[float]()
    began_at = clock()
    async with place.client.get(WATCH) as answer:
        async for _ in answer.content:
            came_at.append(clock() - began_at)
    assert came_at[0] < 0.3 <= came_at[1] <= came_at[2]


async def test_a_stale_view_holds_up_every_watch(place: Place) -> None:
    place.watchman.arm(parse_fault("stale=0.3 watch services 1"))
    clock = asyncio.get_running_loop().time
    began_at = clock()
    async with asyncio.TaskGroup() as group:
        watches = [group.create_task(place.watched()) for _ in range(2)]
    assert clock() - began_at >= 0.3
    assert [watch.result() for watch in watches] == [EVENTS, EVENTS]


async def test_a_bookmark_is_late_like_any_event_and_counted_by_itself(place: Place) -> None:
    place.server.events = [*EVENTS[:1], BOOKMARK, *EVENTS[1:]]
    place.watchman.arm(parse_fault("late=0.3 watch services/bookmark 1"))
    clock, came_at = asyncio.get_running_loop().time, list[float]()
    began_at = clock()
    async with place.client.get(WATCH) as answer:
        async for _ in answer.content:
            came_at.append(clock() - began_at)
    assert came_at[0] < 0.3 <= came_at[1]
    assert len(came_at) == 4


async def until_idle(place: Place, *, wanted: bool) -> None:
    async with asyncio.timeout(5):
        while place.watchman.is_idle != wanted:  # noqa: ASYNC110 - the proxy tells nobody
            await asyncio.sleep(0.01)


async def test_nobody_rests_who_does_not_look_or_has_not_been_told(place: Place) -> None:
    place.server.is_open = asyncio.Event()
    place.watchman.arm(parse_fault("late=0.3 watch services 1"))
    seen = [place.watchman.is_idle]
    async with place.client.get(WATCH) as answer:
        seen.append(place.watchman.is_idle)
        for _ in EVENTS:
            await answer.content.readline()
        await until_idle(place, wanted=True)
        place.server.is_open.set()
        await answer.read()
    await until_idle(place, wanted=False)
    assert seen == [False, False]


async def test_a_watch_that_is_cut_tells_no_more(place: Place) -> None:
    place.watchman.arm(parse_fault("cut watch services 2"))
    with pytest.raises(aiohttp.ClientError):
        await place.watched()


async def test_a_version_that_was_forgotten(place: Place) -> None:
    place.watchman.arm(parse_fault("expire watch services 2"))
    first, error = await place.watched()
    assert first == EVENTS[0]
    assert error["type"] == "ERROR"


async def test_the_watch_after_a_replay_begins_where_the_last_one_began(place: Place) -> None:
    place.watchman.arm(parse_fault("replay watch services 3"))
    with pytest.raises(aiohttp.ClientError):
        await place.watched()
    async with place.client.get(f"{SERVICES}?watch=true&resourceVersion=9") as answer:
        await answer.read()
    assert place.server.seen == [f"GET {WATCH}"] * 2


async def test_a_fault_of_one_process_spares_the_others(place: Place) -> None:
    place.watchman.arm(parse_fault("500 patch services 1"), client=1)
    assert (await place.patch())[0] == 200
