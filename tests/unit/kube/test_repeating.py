"""When is a request sent again, and when never?"""

import asyncio
import socket

import pytest

from firebolt_operator.errors import RejectedError, TransientError, UnansweredError
from firebolt_operator.kube import transport
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
    monkeypatch.setattr(transport, "RETRY_DELAYS", (0.001, 0.002, 0.003))


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
        assert len(server.requests) == 1 + len(transport.RETRY_DELAYS)


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
    assert recorder.requests == [("PATCH", "error", "configmaps")] * (1 + len(transport.RETRY_DELAYS))


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
        assert len(server.requests) == 1


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
