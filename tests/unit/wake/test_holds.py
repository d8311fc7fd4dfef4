"""Is every waiter released by its own registration, never stranded, never leaked?"""

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.wake.holds import Ending, Holds, Waiter
from tests.unit.wake.small_model import ENGINE, World, explore, replayed


async def test_given_every_order_of_two_holds_when_explored_then_nobody_is_stranded_or_leaked() -> None:
    states, problems = explore(Holds)
    assert problems == []
    assert len(states) == 126


async def test_given_any_reachable_state_when_the_engine_turns_ready_then_everybody_is_released() -> None:
    states, _ = explore(Holds)
    assert len(states) > 100
    for path in sorted(_paths_to_every_state()):
        world = replayed(Holds, path)
        if not world.is_ready:
            world.do(("ready", 0))
        parked = [waiter for slot, waiter in world.held.items() if slot not in world.awake]
        assert all(waiter.ended.done() for waiter in parked), path


def _paths_to_every_state() -> set[tuple[tuple[str, int], ...]]:
    paths: dict[object, tuple[tuple[str, int], ...]] = {}
    todo: list[tuple[tuple[str, int], ...]] = [()]
    for path in todo:
        world = replayed(Holds, path)
        if world.state() not in paths:
            paths[world.state()] = path
            todo += [(*path, action) for action in world.actions()]
    return set(paths.values())


class HoldsByName(Holds):
    """The wrong way: a waiter counts down whatever is registered under its engine's name by now."""

    def __init__(self) -> None:
        super().__init__()
        self.references: Counter[str] = Counter()

    def join(self, engine: str) -> Waiter:
        self.references[engine] += 1
        return super().join(engine)

    def leave(self, waiter: Waiter) -> None:
        engine = waiter.registration.engine
        self._total -= 1
        self.references[engine] -= engine in self._registered
        if not self.references[engine]:
            self._registered.pop(engine, None)

    def release(self, engine: str) -> None:
        self.references[engine] = 0
        super().release(engine)


async def test_given_a_release_by_name_when_explored_then_the_search_finds_the_stranded_hold() -> None:
    _, problems = explore(HoldsByName)
    assert any("stranded" in problem for problem in problems)


async def test_given_a_late_leave_after_a_flap_when_ready_again_then_the_next_waiter_is_released() -> None:
    holds = Holds()
    first = holds.join(ENGINE)
    holds.release(ENGINE)
    second = holds.join(ENGINE)
    holds.leave(first)
    holds.release(ENGINE)
    assert second.ended.result() is Ending.RELEASED


async def test_given_fifty_abandoned_holds_when_all_left_then_nothing_is_kept() -> None:
    holds = Holds()
    waiters = [holds.join(f"eng-{number % 7}") for number in range(50)]
    assert (holds.total, sum(holds.by_engine().values())) == (50, 50)
    for waiter in waiters:
        holds.leave(waiter)
    assert (holds.total, holds.by_engine()) == (0, {})


async def test_given_an_expired_waiter_when_released_too_then_the_first_ending_counts() -> None:
    holds = Holds()
    waiter = holds.join(ENGINE)
    waiter.end(Ending.EXPIRED)
    holds.release(ENGINE)
    assert waiter.ended.result() is Ending.EXPIRED


async def test_given_a_waiter_that_left_twice_when_asked_then_it_is_a_bug() -> None:
    holds = Holds()
    waiter = holds.join(ENGINE)
    holds.leave(waiter)
    with pytest.raises(KeyError):
        holds.leave(waiter)


@given(seed=st.integers(0, 2**32))
def test_given_many_holds_of_many_engines_when_anything_happens_then_the_books_stay_right(seed: int) -> None:
    asyncio.run(_random_walk(random.Random(seed)))


async def _random_walk(rng: random.Random) -> None:
    holds, engines = Holds(), [f"eng-{number}" for number in range(3)]
    waiting: list[Waiter] = []
    for _ in range(200):
        step: Any = rng.choice(["join", "join", "leave", "release", "expire"])
        if step == "join":
            waiting.append(holds.join(rng.choice(engines)))
        elif step == "release":
            holds.release(rng.choice(engines))
        elif waiting and step == "expire":
            rng.choice(waiting).end(Ending.EXPIRED)
        elif waiting:
            holds.leave(waiting.pop(rng.randrange(len(waiting))))
        _check_books(holds, waiting)
    for engine in engines:
        holds.release(engine)
    assert all(waiter.ended.done() for waiter in waiting)


def _check_books(holds: Holds, waiting: list[Waiter]) -> None:
    assert holds.total == len(waiting)
    for engine, count in holds.by_engine().items():
        registration = holds._registered[engine]
        assert count == sum(1 for waiter in waiting if waiter.registration is registration) > 0
    for waiter in waiting:
        is_registered = holds._registered.get(waiter.registration.engine) is waiter.registration
        assert is_registered or waiter.ended.done()


async def test_the_model_world_notices_a_leak() -> None:
    world = World(Holds)
    world.do(("arrive", 0))
    world.held.clear()
    assert list(world.problems())
