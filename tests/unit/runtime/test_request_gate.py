"""Does the gate lose, repeat or keep anything, however a stream is cut? And who is in the log for it?"""

import asyncio
import logging

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.runtime.request_gate import RefusedRequestError, RequestGate
from firebolt_operator.runtime.servers import BindAddress, HttpServer

MOST = 200
BODIES = st.lists(st.binary(max_size=60), max_size=5)
HOSTILE = st.lists(st.sampled_from([b"\r\n", b"\r", b"\n", b":", b"Content-Length: 7", b"a" * 30, b"GET / HTTP/1.1"]))


def request_of(body: bytes) -> bytes:
    return b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@given(BODIES, st.integers(min_value=1, max_value=40))
def test_given_requests_in_a_row_when_cut_anywhere_then_each_comes_whole_and_after_the_last_answer(
    bodies: list[bytes], size: int
) -> None:
    requests = [request_of(body) for body in bodies]
    stream, gate, came, now = b"".join(requests), RequestGate(MOST), list[bytes](), b""
    for start in range(0, len(stream), size):
        now += gate.received(stream[start : start + size])
        while now in requests:
            came.append(now)
            now = gate.answered()
    assert (came, now) == (requests, b"")


@given(HOSTILE, st.integers(min_value=1, max_value=40))
def test_given_anything_when_nobody_answers_then_no_more_is_kept_than_may_be(parts: list[bytes], size: int) -> None:
    stream, gate, passed = b"".join(parts), RequestGate(MOST), 0
    for start in range(0, len(stream), size):
        try:
            passed += len(gate.received(stream[start : start + size]))
        except RefusedRequestError:
            return
        assert start + size - passed <= MOST + size + stream.count(b"\r") + stream.count(b"\n")


async def test_given_nonsense_when_refused_then_the_log_stays_empty(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_: web.Request) -> web.Response:
        raise ValueError("ours")

    app = web.Application()
    app.router.add_get("/broken", broken)
    server = HttpServer("test", app, BindAddress("127.0.0.1", 0))
    await server.start()
    with caplog.at_level(logging.INFO):
        for head, status in ((b"\x00\x01", b"400"), (b"GET /broken HTTP/1.1\r\nHost: x", b"500")):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(head + b"\r\n\r\n")
            assert (await reader.readline()).split()[1] == status
            writer.transport.abort()
    await server.stop()
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["ours"]
