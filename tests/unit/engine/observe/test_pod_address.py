"""Metrics straight from a pod's address: what counts as an answer, and what becomes of everything else."""

import asyncio
import ipaddress
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from firebolt_operator.api.names import PORT_ENGINE_METRICS
from firebolt_operator.engine.answers import Activity
from firebolt_operator.engine.observe import scrape
from firebolt_operator.engine.observe.scrape import PodAddress, fetch_activity
from firebolt_operator.errors import TransientError
from tests.support.engines import a_pod

# Loopback is a large network, and the port is not ours to choose: each process has two addresses of its own.
HERE, THERE = (str(ipaddress.IPv4Address("127.64.0.0") + 2 * os.getpid() + each) for each in range(2))
IDLE = "firebolt_running_queries 0\nfirebolt_suspended_queries 0\n"
Answer = Callable[[], bytes | None]


def answer(status: int = 200, body: str = IDLE, *headers: str) -> Answer:
    lines = [f"HTTP/1.1 {status} Some Words", f"Content-Length: {len(body)}", *headers, "", body]
    return lambda: "\r\n".join(lines).encode()


def silence() -> bytes | None:
    return None


@dataclass(slots=True)
class Pod:
    answer: Answer
    when: asyncio.Barrier
    requests: list[str] = field(default_factory=list[str])
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                self.requests.append(head)
                await self.when.wait()
                body = self.answer()
                if body is None:
                    await reader.read()  # until the other side gives up
                    return
                writer.write(body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def pod_at(address: str, says: Answer, when: asyncio.Barrier | None = None) -> AsyncGenerator[Pod]:
    pod = Pod(says, when or asyncio.Barrier(1))
    async with await asyncio.start_server(pod.serve, address, PORT_ENGINE_METRICS):
        yield pod


async def metrics_of(address: str) -> str:
    return await PodAddress().fetch_metrics(a_pod("p", ip=address))


async def test_given_a_pod_then_its_own_words_come_back_and_no_connection_is_kept() -> None:
    async with pod_at(HERE, answer()) as pod:
        assert [await metrics_of(HERE) for _ in range(2)] == [IDLE, IDLE]
    assert pod.connections == 2  # addresses are given to other pods
    assert pod.requests[0].startswith("GET /metrics HTTP/1.1\r\n")
    assert f"Host: {HERE}:9090\r\n" in pod.requests[0]


def pieces(*parts: str) -> Answer:
    """One chunk each: what a server sends that does not know yet how much it will say."""
    chunks = [f"{len(part):x}\r\n{part}\r\n" for part in (*parts, "")]
    head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return (head + "".join(chunks)).encode


async def test_given_an_answer_in_pieces_then_it_is_read_to_its_end() -> None:
    async with pod_at(HERE, pieces("firebolt_running_queries 0\n", "# more\n", "firebolt_suspended_queries 0\n")):
        assert await metrics_of(HERE) == "firebolt_running_queries 0\n# more\nfirebolt_suspended_queries 0\n"


async def test_given_an_answer_without_end_then_half_of_it_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrape, "MOST_BYTES", 100)
    async with pod_at(HERE, pieces(IDLE, "x" * 100)):
        with pytest.raises(TransientError, match="longer than 100 bytes"):
            await metrics_of(HERE)


async def test_given_an_ipv6_address_then_it_is_put_in_brackets() -> None:
    try:
        async with pod_at("::1", answer()) as pod:
            assert await metrics_of("::1") == IDLE
    except OSError as err:
        pytest.skip(f"no IPv6 here: {err}")
    assert "Host: [::1]:9090\r\n" in pod.requests[0]


async def test_given_a_redirect_then_nobody_follows_it() -> None:
    elsewhere = answer(302, "", f"Location: http://{THERE}:{PORT_ENGINE_METRICS}/metrics")
    async with pod_at(THERE, answer()) as target, pod_at(HERE, elsewhere):
        with pytest.raises(TransientError, match="HTTP 302"):
            await metrics_of(HERE)
    assert target.requests == []


async def test_given_an_error_then_a_little_of_it_is_quoted() -> None:
    async with pod_at(HERE, answer(500, "x" * 2000)):
        with pytest.raises(TransientError) as caught:
            await metrics_of(HERE)
    assert str(caught.value) == f"HTTP 500: {'x' * 512}"


async def test_given_no_address_or_nobody_there_then_it_is_told() -> None:
    with pytest.raises(TransientError, match="no address yet"):
        await metrics_of("")
    with pytest.raises(TransientError, match="Cannot connect"):
        await metrics_of(HERE)


PODS = (a_pod("one", ip=HERE), a_pod("two", ip=THERE))


async def test_given_pods_that_never_answer_then_they_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrape, "CONNECT_SECONDS", 0.1)
    async with pod_at(HERE, silence), pod_at(THERE, silence):
        answers = await fetch_activity(PodAddress(), PODS)
    assert [isinstance(each, str) and each != "" for each in answers] == [True, True]


async def test_given_several_pods_then_all_are_asked_at_once() -> None:
    """Each answers only when the other has been asked as well: asked one after the other, none ever would."""
    both_asked = asyncio.Barrier(2)
    async with pod_at(HERE, answer(), both_asked), pod_at(THERE, answer(), both_asked):
        assert await fetch_activity(PodAddress(), PODS) == [Activity(0, 0), Activity(0, 0)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(IDLE, Activity(0, 0), id="idle"),
        pytest.param(IDLE.replace("s 0", "s 1", 1), Activity(1, 0), id="busy"),
        pytest.param(
            "hello\n",
            "metrics answer lacks firebolt_running_queries and firebolt_suspended_queries",
            id="not-metrics",
        ),
    ],
)
async def test_given_two_pods_then_each_answers_for_itself(body: str, expected: Activity | str) -> None:
    async with pod_at(HERE, answer()), pod_at(THERE, answer(body=body)):
        assert await fetch_activity(PodAddress(), PODS) == [Activity(0, 0), expected]
