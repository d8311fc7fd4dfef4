"""When is a request sent again, and when never?"""

import asyncio
import socket
from dataclasses import dataclass, field

import pytest

from firebolt_operator.errors import RejectedError, TransientError, UnansweredError
from firebolt_operator.kube import pauses
from tests.unit.kube.wire import (
    SETTINGS,
    WRITES,
    CountedRecorder,
    SpokenObserver,
    Step,
    WireServer,
    Write,
    a_client,
    a_config_map,
    a_lease,
    a_pod,
    answer,
    raw,
    reset,
    silence,
    status,
)

THROTTLED = status(429, "TooManyRequests", "too many requests")


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "RETRY_DELAYS", (0.001, 0.002, 0.003))


async def test_given_429_with_retry_after_then_even_a_write_is_repeated() -> None:
    async with WireServer(answer(429, THROTTLED, Retry_After="0"), answer(200, a_config_map())) as server:
        async with a_client(server.url) as client:
            assert await client.apply(a_config_map()) == a_config_map()
        assert len(server.requests) == 2


async def test_given_429_without_retry_after_then_the_caller_backs_off() -> None:
    async with WireServer(answer(429, THROTTLED)) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match=r"applying ConfigMap shop/settings: too many requests \(HTTP 429\)"):
            await client.apply(a_config_map())
        assert len(server.requests) == 1


async def test_given_429_for_ever_then_the_number_of_repetitions_is_bounded() -> None:
    async with WireServer(answer(429, THROTTLED, Retry_After="0")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError):
            await client.apply(a_config_map())
        assert len(server.requests) == 1 + len(pauses.RETRY_DELAYS)


@dataclass
class Rests:
    """Nobody sleeps: the clock is moved on, and by how much is written down."""

    seconds: list[float] = field(default_factory=list[float])

    async def rest(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def now(self) -> float:
        return asyncio.get_running_loop().time() + sum(self.seconds)


@pytest.fixture
def rests(monkeypatch: pytest.MonkeyPatch) -> Rests:
    made = Rests()
    monkeypatch.setattr(pauses, "_rest", made.rest)
    monkeypatch.setattr(pauses, "_now", made.now)
    return made


@pytest.mark.parametrize("seconds", [11, 31, 60])
async def test_what_the_server_asks_for_is_waited_for_even_beyond_the_deadline_of_a_call(
    seconds: int, rests: Rests
) -> None:
    steps = answer(429, THROTTLED, Retry_After=str(seconds)), answer(200, a_config_map())
    async with WireServer(*steps) as server, a_client(server.url) as client:
        assert await client.apply(a_config_map()) == a_config_map()
        assert len(server.requests) == 2
    assert rests.seconds == [seconds]


async def test_given_one_wish_after_another_then_a_minute_is_waited_in_all(rests: Rests) -> None:
    async with WireServer(answer(429, THROTTLED, Retry_After="40")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError):
            await client.apply(a_config_map())
        assert len(server.requests) == 3
    # The second wish goes beyond the minute, but only so far as the call itself still has time.
    assert rests.seconds == [40.0, 40.0]


async def test_given_a_caller_in_a_hurry_then_it_does_not_wait_beyond_its_deadline(rests: Rests) -> None:
    async with WireServer(answer(429, THROTTLED, Retry_After="11")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError):
            await client.reviews.token("secret")
        assert len(server.requests) == 1
    assert rests.seconds == []


async def test_given_a_server_that_is_starting_then_a_read_waits_as_long_as_it_asks_for(rests: Rests) -> None:
    steps = answer(503, status(503, "ServiceUnavailable", "starting"), Retry_After="7"), answer(200, a_config_map())
    async with WireServer(*steps) as server, a_client(server.url) as client:
        assert await client.get(SETTINGS) == a_config_map()
    assert rests.seconds == [7.0]


async def test_given_a_server_that_wants_minutes_then_nobody_waits_inside_the_door() -> None:
    async with WireServer(answer(429, THROTTLED, Retry_After="300")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError):
            await client.apply(a_config_map())
        assert len(server.requests) == 1


async def test_given_no_listener_then_connecting_is_tried_again_and_named() -> None:
    recorder = CountedRecorder()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with a_client(f"http://127.0.0.1:{port}", recorder=recorder) as client:
        with pytest.raises(TransientError, match=f"cannot connect to 127.0.0.1:{port}") as caught:
            await client.apply(a_config_map())
    assert not isinstance(caught.value, UnansweredError)
    assert recorder.requests == [("PATCH", "error", "configmaps")] * (1 + len(pauses.RETRY_DELAYS))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(reset, id="reset"),
        pytest.param(raw(b"", closes=True), id="closed-without-a-word"),
        pytest.param(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", closes=True), id="cut-off"),
        pytest.param(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{{{{{"), id="not-json"),
        pytest.param(raw(b"SSH-2.0-OpenSSH\r\n\r\n", closes=True), id="not-http"),
        pytest.param(answer(500, status(500, "InternalError", "etcdserver: request timed out")), id="broken"),
    ],
)
async def test_an_unanswered_write_is_never_repeated_and_everyone_is_told(write: Write, fault: Step) -> None:
    """On a kept-alive connection, where aiohttp by itself would send a PUT or DELETE twice."""
    observer = SpokenObserver()
    async with WireServer(answer(200, a_config_map()), fault) as server:
        async with a_client(server.url, observer=observer) as client:
            await client.get(SETTINGS)
            with pytest.raises(UnansweredError):
                await write(client)
        assert len(server.requests) == 2
    assert observer.heard == [("unanswered", SETTINGS)]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(reset, id="reset"),
        pytest.param(raw(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{", closes=True), id="cut-off"),
    ],
)
async def test_a_read_is_repeated(fault: Step) -> None:
    async with WireServer(fault, answer(200, a_config_map())) as server, a_client(server.url) as client:
        assert await client.get(SETTINGS) == a_config_map()


async def test_given_a_read_that_stays_unreadable_then_it_is_transient() -> None:
    async with WireServer(answer(200, b"{{{")) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match="reading ConfigMap shop/settings: the answer is not a whole JSON"):
            await client.get(SETTINGS)


async def test_given_a_silent_server_then_a_write_is_unanswered_at_its_deadline() -> None:
    observer = SpokenObserver()
    async with WireServer(silence) as server, a_client(server.url, observer=observer) as client:
        with pytest.raises(UnansweredError, match="sent, but not answered: the deadline passed"):
            await client.leases.update(a_lease(), timeout_seconds=0.05)
        assert len(server.requests) == 1
    assert observer.heard == []


async def test_given_a_silent_server_then_a_read_is_transient_at_its_deadline() -> None:
    async with WireServer(silence) as server, a_client(server.url) as client:
        with pytest.raises(TransientError, match="the deadline passed"):
            await client.pod_proxy_get(a_pod(), 9090, "/metrics", timeout=0.05)
        assert len(server.requests) <= 1  # it is not asked again; a busy machine may not even send the first in time


async def test_given_a_cancelled_write_then_it_is_unanswered_too() -> None:
    observer = SpokenObserver()
    async with (
        WireServer(silence) as server,
        a_client(server.url, observer=observer) as client,
        asyncio.TaskGroup() as group,
    ):
        task = group.create_task(client.apply(a_config_map()), name="apply")
        await server.arrived.wait()
        task.cancel()
    assert observer.heard == [("unanswered", SETTINGS)]


async def test_a_redirect_is_not_followed() -> None:
    async with WireServer(answer(302, {}, Location="/elsewhere")) as server, a_client(server.url) as client:
        with pytest.raises(RejectedError, match="HTTP 302"):
            await client.get(SETTINGS)
        assert len(server.requests) == 1
