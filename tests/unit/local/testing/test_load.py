"""Does the load ask when it is due, stay within its bounds, and call only complete answers good?"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from aiohttp import web

from firebolt_local.standins.pod_header import POD_HEADER
from firebolt_local.testing.load import NO_ANSWER, Plan, ask, ask_for_body, client_session, steady_load
from kubectl_firebolt.picture.answers import Answer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def a_gateway(handler: Handler) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_post("/", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def one_answer(handler: Handler, timeout: timedelta = timedelta(seconds=10)) -> Answer:  # noqa: ASYNC109
    async with a_gateway(handler) as url:
        asked = Plan(url=url, engine="analytics", sql="SELECT 42", timeout=timeout)
        async with client_session(asked) as session:
            return await ask(session, asked, clock=asyncio.get_running_loop().time)


async def test_a_query_names_its_engine_and_the_answer_its_pod() -> None:
    seen: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers["X-Firebolt-Engine"], await request.text()))
        return web.Response(text="42", headers={POD_HEADER: "analytics-g3-1"})

    answered = await one_answer(answer)
    assert seen == [("analytics", "SELECT 42")]
    assert (answered.status, answered.pod, answered.is_good) == (200, "analytics-g3-1", True)


async def test_a_refusal_is_kept_in_its_own_words() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=503, text="no healthy upstream\n")

    assert (await one_answer(refuse)).problem == "HTTP 503: no healthy upstream"


async def test_an_answer_that_breaks_off_is_a_failure_whatever_its_status() -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b'{"meta":')
        if request.transport is not None:
            request.transport.abort()
        return response

    answered = await one_answer(break_off)
    assert answered.status == 200
    assert not answered.is_good


async def test_no_answer_in_time_is_a_failure() -> None:
    async def sleep(_: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.Response()

    answered = await one_answer(sleep, timeout=timedelta(seconds=0.05))
    assert answered.status == NO_ANSWER
    assert "Timeout" in answered.problem


async def test_queries_come_at_the_rate_that_was_asked_for_and_those_under_way_are_finished() -> None:
    enough, begun = asyncio.Event(), 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal begun
        begun += 1
        if begun == 20:
            enough.set()
        await asyncio.sleep(0.05)
        return web.Response()

    async with a_gateway(answer) as url:
        async with asyncio.timeout(10), steady_load(Plan(url=url, engine="e", per_second=200)) as load:
            await enough.wait()
        due = sorted(each.due_at for each in load.answers)
        assert len(load.answers) == begun
        assert all(each.is_good for each in load.answers)
        assert abs((due[-1] - due[0]) / (len(due) - 1) - 1 / 200) < 1e-6


async def test_slow_answers_bound_what_is_open_and_the_wait_for_a_turn_counts() -> None:
    going, most = 0, 0
    enough = asyncio.Event()

    async def answer(_: web.Request) -> web.Response:
        nonlocal going, most
        going += 1
        most = max(most, going)
        await asyncio.sleep(0.05)
        going -= 1
        return web.Response()

    async with a_gateway(answer) as url:
        plan = Plan(url=url, engine="e", per_second=1000, most_open=3)
        async with asyncio.timeout(10), steady_load(plan) as load:
            asyncio.get_running_loop().call_later(0.5, enough.set)
            await enough.wait()
        assert most == 3
        assert max(each.seconds for each in load.answers) > 0.3


async def test_a_host_is_asked_by_its_name_at_the_address_that_was_given() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=request.host)

    async with a_gateway(answer) as url:
        named = url.replace("127.0.0.1", "gateway.cluster.local")
        plan = Plan(url=named, engine="e", hosts={"gateway.cluster.local": "127.0.0.1"})
        async with client_session(plan) as session:
            answered, body = await ask_for_body(session, plan, clock=asyncio.get_running_loop().time)
        assert (answered.problem, body.decode()) == ("", named.removeprefix("http://").removesuffix("/"))


async def test_a_host_that_nobody_named_is_not_looked_for_elsewhere() -> None:
    plan = Plan(url="http://localhost:1/", engine="e", hosts={"gateway.cluster.local": "127.0.0.1"})
    async with client_session(plan) as session:
        answered = await ask(session, plan, clock=asyncio.get_running_loop().time)
    assert "nobody said where localhost is" in answered.problem
