"""Does a process that lost its lease stop writing, at once and on every attempt?"""

import asyncio
import re
import time
from dataclasses import dataclass

import pytest

from firebolt_operator.errors import FencedError, UnansweredError
from firebolt_operator.kube import pauses
from firebolt_operator.kube.attempt import AdmittedRequest
from firebolt_operator.kube.client import KubeClient
from tests.unit.kube.wire import (
    SETTINGS,
    WRITES,
    SpokenObserver,
    WireServer,
    Write,
    a_client,
    a_config_map,
    a_lease,
    answer,
    held_back,
    silence,
    status,
)

THROTTLED = answer(429, status(429, "TooManyRequests", "later"), Retry_After="0")


@dataclass(slots=True)
class LastingFence:
    """Open for a number of attempts, then closed for good."""

    attempts_left: float
    seconds: float = 60.0

    def remaining(self) -> float:
        if not self.attempts_left:
            raise FencedError("the lease is lost")
        self.attempts_left -= 0.5  # asked twice: for the server's deadline, and when the bytes leave
        return self.seconds


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "RETRY_DELAYS", (0.001, 0.002, 0.003))


@pytest.mark.parametrize("write", WRITES)
async def test_given_a_closed_fence_then_nothing_is_sent_and_nothing_is_unknown(write: Write) -> None:
    observer = SpokenObserver()
    async with WireServer(answer(200, a_config_map())) as server:
        async with a_client(server.url, fence=LastingFence(0), observer=observer) as client:
            with pytest.raises(FencedError, match="the lease is lost"):
                await write(client)
        assert server.requests == []
    assert observer.heard == []


async def test_the_fence_is_asked_on_every_attempt() -> None:
    fence = LastingFence(2)
    async with WireServer(THROTTLED) as server, a_client(server.url, fence=fence) as client:
        with pytest.raises(FencedError):
            await client.apply(a_config_map())
        assert len(server.requests) == 2


async def is_fenced_out(client: KubeClient) -> None:
    with pytest.raises(FencedError):
        await client.apply(a_config_map())


async def test_the_fence_is_asked_after_waiting_for_a_free_connection() -> None:
    may_answer = asyncio.Event()
    fence = LastingFence(1)
    async with WireServer(held_back(may_answer, answer(200, a_config_map()))) as server:
        async with a_client(server.url, fence=fence, limit=1) as client, asyncio.TaskGroup() as group:
            group.create_task(client.get(SETTINGS), name="takes-the-only-place")
            await server.arrived.wait()
            group.create_task(is_fenced_out(client), name="waits")
            await asyncio.sleep(0)
            fence.attempts_left = 0  # lost while waiting
            may_answer.set()
        assert [request.method for request in server.requests] == ["GET"]


async def test_what_is_left_of_the_lease_bounds_the_request() -> None:
    async with WireServer(silence) as server, a_client(server.url, fence=LastingFence(1, seconds=0.05)) as client:
        before = time.monotonic()
        with pytest.raises(UnansweredError, match="the deadline passed"):
            await client.apply(a_config_map())
        assert time.monotonic() - before < 5


async def test_reads_leases_and_reviews_pass_a_closed_fence() -> None:
    async with WireServer(answer(200, a_lease() | {"status": {"authenticated": True}})) as server:
        async with a_client(server.url, fence=LastingFence(0)) as client:
            await client.get(SETTINGS)
            await client.leases.create(a_lease(), timeout_seconds=5)
            await client.leases.update(a_lease(), timeout_seconds=5)
            assert (await client.reviews.token("secret")).is_authenticated
        assert [request.method for request in server.requests] == ["GET", "POST", "PUT", "POST"]


async def test_a_client_can_be_fenced_later_over_the_same_connections() -> None:
    async with WireServer(answer(200, a_config_map())) as server, a_client(server.url) as client:
        await client.apply(a_config_map())
        with pytest.raises(FencedError):
            await client.fenced(LastingFence(0)).apply(a_config_map())
        with pytest.raises(FencedError):
            await client.fenced(LastingFence(0)).unobserved.create(a_config_map())
        await client.apply(a_config_map())
        assert len(server.requests) == 2


@pytest.mark.parametrize("write", WRITES)
async def test_given_a_client_library_that_forgets_the_hook_then_its_first_answer_ends_all_writing(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(AdmittedRequest, "write_bytes")
    async with WireServer(answer(200, a_config_map())) as server:
        async with a_client(server.url, fence=LastingFence(9)) as client:
            with pytest.raises(FencedError, match=r"the fence was not asked: aiohttp 3\."):
                await write(client)
            with pytest.raises(FencedError, match="the fence was not asked"):
                await client.apply(a_config_map())
            await client.get(SETTINGS)
        assert len(server.requests) == 2  # the first write and the read


async def test_given_a_forgotten_hook_then_what_has_no_fence_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AdmittedRequest, "write_bytes")
    async with WireServer(answer(200, a_config_map())) as server, a_client(server.url) as client:
        await client.apply(a_config_map())
        await client.apply(a_config_map())
        assert len(server.requests) == 2


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("seconds", "low", "high"),
    [pytest.param(4.0, 1000, 4000, id="of-the-lease"), pytest.param(500.0, 4001, 30_000, id="of-the-call")],
)
async def test_a_write_tells_the_server_what_is_left(write: Write, seconds: float, low: int, high: int) -> None:
    async with WireServer(answer(200, a_config_map())) as server:
        async with a_client(server.url, fence=LastingFence(1, seconds=seconds)) as client:
            await write(client)
        told = re.search(r"[?&]timeout=(\d+)ms$", server.requests[0].target)
    assert told is not None
    assert low <= int(told[1]) <= high


async def test_only_writes_tell_the_server_their_deadline() -> None:
    async with WireServer(answer(200, a_config_map())) as server, a_client(server.url) as client:
        await client.get(SETTINGS)
        assert "timeout" not in server.requests[0].target


async def test_a_write_tells_what_is_left_when_it_leaves_and_not_when_it_was_asked_for() -> None:
    may_answer = asyncio.Event()
    fence = LastingFence(9, seconds=500.0)
    async with WireServer(held_back(may_answer, answer(200, a_config_map()))) as server:
        async with a_client(server.url, fence=fence, limit=1) as client, asyncio.TaskGroup() as group:
            group.create_task(client.get(SETTINGS), name="takes-the-only-place")
            await server.arrived.wait()
            group.create_task(client.apply(a_config_map()), name="waits")
            await asyncio.sleep(0)
            fence.seconds = 2.0
            may_answer.set()
        told = re.search(r"timeout=(\d+)ms$", server.requests[1].target)
    assert told is not None
    assert int(told[1]) <= 2000
