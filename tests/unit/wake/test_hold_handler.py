"""What becomes of a query's question, in every order of endpoints, routes, clocks and hang-ups?"""

import asyncio
import random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from firebolt_operator.wake.arrivals import HEAD_START_SECONDS
from firebolt_operator.wake.decide.answers import FLAPPED, READY, REJECTED, RELEASED, SHED, TIMED_OUT, UNSYNCED, Answer
from tests.support.manual_clock import idle
from tests.support.wake import HOLD_TIMEOUT, Bench, results, running

TIMEOUT_SECONDS = HOLD_TIMEOUT.total_seconds()


@pytest.fixture
def bench() -> Bench:
    """Synced, with one engine that is up."""
    made = Bench()
    made.sync("up")
    return made


async def test_given_no_first_list_when_asked_then_the_query_goes_on_and_nobody_is_woken() -> None:
    bench = Bench()
    assert await bench.ask("eng") == UNSYNCED
    assert bench.demanded == []


async def test_given_a_bad_name_when_asked_then_it_is_rejected_whatever_is_known() -> None:
    assert await Bench().ask("../x") == REJECTED


async def test_given_endpoints_of_the_first_list_when_asked_then_the_engine_is_ready_unasked(bench: Bench) -> None:
    assert await bench.ask("up") == READY
    assert (bench.routes.asked, bench.demanded) == ([], [])


async def test_given_holds_when_endpoints_appear_and_envoy_knows_then_all_are_released(bench: Bench) -> None:
    async with running(bench) as group:
        held = [group.create_task(bench.handler.answer("eng")) for _ in range(500)]
        await idle()
        assert (bench.holds.total, bench.demanded) == (500, ["eng"] * 500)
        bench.point("eng", "10.0.0.1")
    assert results(held) == {RELEASED}
    assert (bench.holds.total, bench.holds.by_engine()) == (0, {})


async def test_given_endpoints_that_envoy_does_not_know_when_held_then_it_is_asked_every_50_ms(bench: Bench) -> None:
    bench.routes.is_open = False
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.point("eng", "10.0.0.1")
        await bench.clock.advance(1.0)
        assert 20 <= len(bench.routes.asked) <= 21
        assert not held.done()
        bench.routes.is_open = True
        await bench.clock.advance(0.05)
    assert held.result() == RELEASED
    assert await bench.ask("eng") == READY


async def test_given_endpoints_that_just_appeared_when_held_then_dns_is_left_alone_for_a_moment() -> None:
    bench = Bench(head_start=HEAD_START_SECONDS)
    bench.sync()
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.point("eng", "10.0.0.1")
        await bench.clock.advance(0.09)
        assert bench.routes.asked == []
        await bench.clock.advance(0.02)
        assert (bench.routes.asked, held.done()) == (["eng"], True)
        # Endpoints that have been there for a while need no such patience.
        bench.point("late", "10.0.0.2")
        await bench.clock.advance(1.0)
        assert await bench.ask("late") == RELEASED


async def test_given_nobody_who_waits_when_endpoints_appear_then_envoy_is_asked_at_the_next_query_only(
    bench: Bench,
) -> None:
    async with running(bench):
        bench.point("eng", "10.0.0.1")
        await bench.clock.advance(10.0)
        assert bench.routes.asked == []
        assert await bench.ask("eng") == RELEASED
        assert await bench.ask("eng") == READY
    assert bench.routes.asked == ["eng"]
    assert bench.demanded == []  # it is up: nobody has to be woken


async def test_given_an_envoy_that_never_knows_when_the_hold_timeout_passes_then_queries_go_on(bench: Bench) -> None:
    bench.routes.is_open = False
    async with running(bench) as group:
        bench.point("eng", "10.0.0.1")
        await bench.clock.advance(60.0)
        held = group.create_task(bench.handler.answer("eng"))
        await bench.clock.advance(59.0)
        assert not held.done()
        await bench.clock.advance(1.1)
    assert held.result() == RELEASED
    assert await bench.ask("eng") == READY


async def test_given_a_running_engine_when_all_its_pods_are_replaced_then_nobody_is_held(bench: Bench) -> None:
    bench.routes.is_open = False
    bench.point("up", "10.0.0.2", part="b")
    bench.point("up", part="a")
    assert await bench.ask("up") == READY
    bench.point("up", part="b")
    assert not bench.readiness.is_ready("up")


async def test_given_a_flap_between_release_and_answer_when_resumed_then_the_query_is_refused(bench: Bench) -> None:
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.holds.release("eng")
        await idle()
    assert held.result() == FLAPPED


async def test_given_a_flap_while_envoy_is_asked_when_endpoints_return_then_the_old_finding_counts_for_nothing(
    bench: Bench,
) -> None:
    bench.routes.is_open = False
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.point("eng", "10.0.0.1")
        stale = bench.readiness.arriving("eng")
        assert stale is not None
        bench.point("eng")
        bench.point("eng", "10.0.0.2")
        bench.readiness.turn_ready(stale)
        await idle()
        assert not held.done()
        bench.routes.is_open = True
        await bench.clock.advance(0.05)
    assert held.result() == RELEASED


async def test_given_endpoints_that_go_before_envoy_knows_them_then_whoever_waits_is_asked_for_again(
    bench: Bench,
) -> None:
    bench.routes.is_open = False
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.point("eng", "10.0.0.1")
        for book in (bench.books.known, bench.books.strangers):
            book.forget("eng")  # as the agent does when endpoints appear
        late = group.create_task(bench.handler.answer("eng"))
        await idle()
        assert bench.demanded == ["eng"]
        bench.point("eng")
        assert bench.demanded == ["eng", "eng"]
        bench.routes.is_open = True
        bench.point("eng", "10.0.0.2")
        await bench.clock.advance(1.0)
    assert results((held, late)) == {RELEASED}


async def test_given_nobody_who_waits_when_endpoints_go_then_nobody_is_woken(bench: Bench) -> None:
    bench.point("up")
    bench.point("eng", "10.0.0.1")
    bench.point("eng")
    assert bench.demanded == []


async def test_given_no_engine_when_the_timeout_passes_then_the_query_is_refused(bench: Bench) -> None:
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await bench.clock.advance(TIMEOUT_SECONDS - 1)
        assert not held.done()
        await bench.clock.advance(1.0)
    assert held.result() == TIMED_OUT
    assert bench.holds.total == 0


async def test_given_a_full_agent_when_asked_then_it_refuses_after_it_asked_for_the_engine(bench: Bench) -> None:
    bench.cap = 0
    assert await bench.ask("eng") == SHED
    assert bench.demanded == ["eng"]


async def test_given_a_cap_over_all_engines_when_one_leaves_then_the_next_is_held(bench: Bench) -> None:
    bench.cap = 2
    async with running(bench) as group:
        held = [group.create_task(bench.handler.answer(engine)) for engine in ("a", "b")]
        await idle()
        assert await bench.ask("c") == SHED
        held[0].cancel()
        await idle()
        last = group.create_task(bench.handler.answer("c"))
        await idle()
        assert bench.holds.by_engine() == {"b": 1, "c": 1}
        await bench.clock.advance(TIMEOUT_SECONDS)
    assert last.result() == TIMED_OUT


async def test_given_names_without_end_when_asked_for_then_engines_are_held_and_few_of_the_names_are(
    bench: Bench,
) -> None:
    bench.cap, bench.is_known = 40, bench.readiness.is_known
    bench.point("parked")  # a Service without pods
    async with running(bench) as group:
        junk = [group.create_task(bench.handler.answer(f"junk-{number}")) for number in range(5000)]
        await idle()
        waiting = [task for task in junk if not task.done()]
        assert (len(waiting), results(set(junk) - set(waiting))) == (10, {SHED})
        held = [group.create_task(bench.handler.answer("parked")) for _ in range(20)]
        await idle()
        assert (bench.holds.count("parked"), bench.holds.total) == (20, 30)
        assert bench.books.known.claim(now=bench.clock.monotonic()) is not None
        for task in (*waiting, *held):
            task.cancel()


@settings(max_examples=40, phases=[Phase.generate])  # a smaller seed is no simpler a storm
@given(seed=st.integers(0, 2**32))
def test_given_five_hundred_holds_when_engines_flap_and_clients_leave_then_none_is_stranded_or_leaked(
    seed: int,
) -> None:
    asyncio.run(_storm(random.Random(seed)))


async def _storm(rng: random.Random) -> None:
    bench, engines = Bench(cap=400), ["a", "b", "c", "d"]
    bench.sync()
    held: list[asyncio.Task[Answer]] = []
    async with running(bench) as group:
        for _ in range(60):
            await _one_thing(rng, bench, rng.choice(engines), held, group)
            assert bench.holds.total <= bench.cap
        bench.routes.is_open = True
        for engine in engines:
            bench.point(engine, "10.0.0.1")
        # No clock has to run out: whoever waits is released by the endpoints alone.
        await bench.clock.advance(0.1)
        assert all(task.done() for task in held)
    assert (bench.holds.total, bench.holds.by_engine(), bench.clock.next_due) == (0, {}, None)


async def _one_thing(
    rng: random.Random, bench: Bench, engine: str, held: list[asyncio.Task[Answer]], group: asyncio.TaskGroup
) -> None:
    match rng.randrange(6):
        case 0 | 1:
            held += [group.create_task(bench.handler.answer(engine)) for _ in range(25)]
        case 2:
            bench.point(engine, "10.0.0.1")
        case 3:
            bench.point(engine)
        case 4:
            bench.routes.is_open = not bench.routes.is_open
        case _:
            for task in rng.sample(held, len(held) // 4):
                task.cancel()
    if rng.random() < 0.7:  # otherwise the next thing happens before anybody resumed
        await bench.clock.advance(rng.choice([0.0, 0.05, 7.0]))
