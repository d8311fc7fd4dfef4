"""When the pod stops: who is still answered, who is let go, and when does the agent leave?"""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp
import pytest
from aiohttp import web

from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.decide.answers import LEAVING, READY, RELEASED, Answer
from firebolt_operator.wake.envoy_admin import EnvoyAdmin
from firebolt_operator.wake.farewell import Farewell, IsDeleted
from firebolt_operator.wake.server import serving
from tests.support.manual_clock import idle
from tests.support.wake import Bench

GRACE = timedelta(seconds=120)


class AdminOfATest(EnvoyAdmin):
    """An Envoy that is there until the test says otherwise."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        super().__init__("", session)
        self.is_there = True

    async def is_gone(self) -> bool:
        return not self.is_there


async def never() -> bool:
    return False


@asynccontextmanager
async def a_farewell(
    bench: Bench, grace: timedelta = GRACE, is_deleted: IsDeleted = never
) -> AsyncGenerator[tuple[Farewell, AdminOfATest]]:
    async with aiohttp.ClientSession() as session:
        admin = AdminOfATest(session)
        yield Farewell(bench.handler.answer, admin, bench.clock, grace, is_deleted), admin


async def test_given_holds_when_the_pod_stops_then_they_wait_on_and_are_let_go_three_seconds_before_its_end() -> None:
    bench = Bench()
    bench.sync("up")
    async with a_farewell(bench) as (farewell, admin), asyncio.TaskGroup() as group:
        await bench.clock.advance(60)
        held = group.create_task(farewell.answer("down"))
        await idle()
        leaving = group.create_task(farewell.say())
        await bench.clock.advance(59)
        assert not held.done()
        late = group.create_task(farewell.answer("later"))
        await bench.clock.advance(57.9)
        assert not late.done()
        await bench.clock.advance(0.2)
        assert await late == LEAVING
        assert bench.holds.total == 0
        assert (await farewell.answer("down"), await farewell.answer("up")) == (LEAVING, READY)
        assert not leaving.done()
        admin.is_there = False
        await bench.clock.advance(1)
        assert leaving.done()
    assert held.result() == LEAVING


@pytest.mark.parametrize("deleted_at", [0.0, 600.0])
async def test_given_hours_to_leave_when_the_instance_is_deleted_then_holds_are_let_go_within_its_minute(
    deleted_at: float,
) -> None:
    bench, asked = Bench(), list[float]()
    bench.sync()

    async def is_deleted() -> bool:
        asked.append(bench.clock.elapsed)
        return bench.clock.elapsed >= deleted_at

    async with a_farewell(bench, timedelta(hours=2), is_deleted) as (farewell, admin), asyncio.TaskGroup() as group:
        leaving = group.create_task(farewell.say())
        await bench.clock.advance(deleted_at)
        held = group.create_task(farewell.answer("down"))
        await bench.clock.advance(30)
        assert not held.done()
        await bench.clock.advance(27)  # three seconds before the pod is killed
        assert (held.done(), leaving.done()) == (True, False)
        assert len(asked) <= deleted_at / 5 + 2
        admin.is_there = False
        await bench.clock.advance(1)
        assert leaving.done()
    assert held.result() == LEAVING


async def test_given_a_minute_to_leave_when_the_pod_stops_then_nobody_asks_for_the_instance() -> None:
    bench = Bench()
    bench.sync()

    async def is_deleted() -> bool:
        raise AssertionError("asked")

    async with a_farewell(bench, timedelta(seconds=60), is_deleted) as (farewell, admin), asyncio.TaskGroup() as group:
        leaving = group.create_task(farewell.say())
        await bench.clock.advance(58)
        admin.is_there = False
        await bench.clock.advance(1)
        assert leaving.done()


async def test_given_a_hold_when_the_engine_comes_while_the_pod_stops_then_the_query_goes_on() -> None:
    bench = Bench()
    bench.sync()
    async with a_farewell(bench) as (farewell, admin), asyncio.TaskGroup() as group:
        arrivals = group.create_task(bench.arrivals.run())
        held = group.create_task(farewell.answer("eng"))
        leaving = group.create_task(farewell.say())
        await bench.clock.advance(5)
        bench.point("eng", "10.0.0.1")
        await bench.clock.advance(1)
        assert held.result() == RELEASED
        assert not leaving.done()
        admin.is_there = False
        await bench.clock.advance(1)
        assert leaving.done()
        arrivals.cancel()


async def test_given_an_envoy_that_left_when_holds_wait_then_they_end_and_the_agent_leaves_at_once() -> None:
    bench = Bench()
    bench.sync()
    async with a_farewell(bench) as (farewell, admin), asyncio.TaskGroup() as group:
        held = group.create_task(farewell.answer("eng"))
        await idle()
        admin.is_there = False
        await farewell.say()
        answer: Answer = await held
    assert (answer, bench.clock.elapsed) == (LEAVING, 0.0)


async def test_given_a_closed_port_when_asked_then_envoy_is_gone_and_nobody_to_ask_is_gone_as_well() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        async with aiohttp.ClientSession() as session:
            assert await EnvoyAdmin(url, session).is_gone()
            assert await EnvoyAdmin("", session).is_gone()


async def test_given_an_envoy_that_is_sick_or_slow_when_asked_then_it_is_not_gone() -> None:
    async def hangs_up(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    app = web.Application()
    app.router.add_get("/ready", hangs_up)
    async with serving(app, BindAddress("127.0.0.1", 0)) as port, aiohttp.ClientSession() as session:
        assert not await EnvoyAdmin(f"http://127.0.0.1:{port}", session).is_gone()
        assert not await EnvoyAdmin(f"http://127.0.0.1:{port}/sick", session).is_gone()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=0.1)) as session:
            assert not await EnvoyAdmin(url, session).is_gone()
