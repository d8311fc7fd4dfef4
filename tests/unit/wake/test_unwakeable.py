"""Which engines cannot be woken, and for how long is that remembered?"""

import pytest

from firebolt_operator.refs import Manifest
from firebolt_operator.wake.decide.answers import MISSING, RELEASED, SHED, STOPPED
from firebolt_operator.wake.holds import Ending
from firebolt_operator.wake.unwakeable import MEMORY_SECONDS, MOST_NAMES, is_stopped_by_owner
from tests.support.manual_clock import idle
from tests.support.wake import Bench, results, running


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.sync()
    return made


@pytest.mark.parametrize(("how", "expected"), [(Ending.MISSING, MISSING), (Ending.STOPPED, STOPPED)])
async def test_given_holds_when_their_engine_cannot_be_woken_then_they_end_at_once_and_others_wait_on(
    bench: Bench, how: Ending, expected: object
) -> None:
    async with running(bench) as group:
        held = [group.create_task(bench.handler.answer("eng")) for _ in range(256)]
        other = group.create_task(bench.handler.answer("other"))
        await idle()
        bench.unwakeable.refuse("eng", how)
        await idle()
        assert results(held) == {expected}
        assert bench.holds.by_engine() == {"other": 1}
        bench.point("other", "10.0.0.1")
    assert other.result() == RELEASED


async def test_given_a_verdict_when_asked_again_then_it_counts_for_five_seconds_and_costs_no_demand(
    bench: Bench,
) -> None:
    bench.unwakeable.refuse("eng", Ending.MISSING)
    await bench.clock.advance(MEMORY_SECONDS - 0.01)
    assert await bench.ask("eng") == MISSING
    assert bench.demanded == []
    await bench.clock.advance(0.01)
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        assert (bench.demanded, held.done(), len(bench.unwakeable)) == (["eng"], False, 0)
        held.cancel()


async def test_given_names_without_end_when_refused_then_the_newest_1024_are_remembered(bench: Bench) -> None:
    for number in range(MOST_NAMES + 500):
        bench.unwakeable.refuse(f"e-{number}", Ending.MISSING)
        bench.unwakeable.refuse("again", Ending.STOPPED)
    assert len(bench.unwakeable) == MOST_NAMES
    assert await bench.ask(f"e-{MOST_NAMES + 499}") == MISSING
    assert await bench.ask("again") == STOPPED
    assert bench.unwakeable.of("e-0") is None


def test_given_an_old_name_that_is_refused_again_when_room_is_needed_then_another_one_goes(bench: Bench) -> None:
    bench.unwakeable.refuse("again", Ending.MISSING)
    for number in range(MOST_NAMES - 1):
        bench.unwakeable.refuse(f"e-{number}", Ending.MISSING)
    bench.unwakeable.refuse("again", Ending.MISSING)
    bench.unwakeable.refuse("one-more", Ending.MISSING)
    assert (bench.unwakeable.of("again"), bench.unwakeable.of("e-0")) == (MISSING, None)


async def test_given_an_engine_that_came_up_since_when_refused_then_its_holds_wait_for_envoy(bench: Bench) -> None:
    bench.routes.is_open = False
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        bench.point("eng", "10.0.0.1")
        bench.unwakeable.refuse("eng", Ending.STOPPED)
        await idle()
        assert not held.done()
        bench.routes.is_open = True
        await bench.clock.advance(0.1)
    assert held.result() == RELEASED


async def test_given_a_verdict_when_the_engine_comes_and_goes_then_it_is_asked_for_anew(bench: Bench) -> None:
    bench.unwakeable.refuse("eng", Ending.STOPPED)
    bench.point("eng", "10.0.0.1")
    bench.point("eng")
    async with running(bench) as group:
        held = group.create_task(bench.handler.answer("eng"))
        await idle()
        assert (bench.demanded, held.done()) == (["eng"], False)
        held.cancel()


async def test_given_a_flood_for_one_engine_when_held_then_half_of_the_room_is_left_to_others(bench: Bench) -> None:
    bench.cap = 8
    async with running(bench) as group:
        flood = [group.create_task(bench.handler.answer("eng")) for _ in range(20)]
        await idle()
        assert bench.holds.by_engine() == {"eng": 4}
        others = [group.create_task(bench.handler.answer(f"e-{number}")) for number in range(4)]
        await idle()
        assert not any(task.done() for task in others)
        assert await bench.ask("one-more") == SHED
        assert sum(task.done() and task.result() == SHED for task in flood) == 16
        for task in (*flood, *others):
            task.cancel()


@pytest.mark.parametrize(
    ("spec", "reason", "expected"),
    [
        pytest.param({"replicas": 0}, "Disabled", True, id="stopped-and-nothing-wakes-it"),
        pytest.param({"replicas": 0, "autoStop": {"enabled": False}}, "Disabled", True, id="turned-off"),
        pytest.param({"replicas": 0, "autoStop": {"enabled": True}}, "Disabled", False, id="just-turned-on"),
        pytest.param({"replicas": 0}, "Stopped", False, id="parked-by-the-policy-of-its-class"),
        pytest.param({"replicas": 0}, "", False, id="not-looked-at-yet"),
        pytest.param({"replicas": 2}, "Disabled", False, id="on-its-way-up"),
        pytest.param({}, "Disabled", False, id="without-a-size"),
    ],
)
def test_who_is_stopped_by_the_owner(spec: Manifest, reason: str, expected: bool) -> None:
    assert is_stopped_by_owner({"spec": spec, "status": {"autoStopReason": reason}}) is expected


def test_an_engine_without_a_status_is_not_stopped() -> None:
    assert not is_stopped_by_owner({"spec": {"replicas": 0}})
