"""Pods that hang cost those who ask them, and nobody else."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from firebolt_operator.engine.answers import Activity
from firebolt_operator.engine.observe.scrape_places import PATIENCE, PODS_AT_ONCE, ScrapePlaces
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import TransientError
from tests.support.engines import a_pod
from tests.support.manual_clock import ManualClock, idle

IDLE = Activity(0, 0)
TOO_MANY = "too many pods of this namespace do not answer; asked again later"


@dataclass
class Pods:
    """Answers at once, fails at once, or keeps everyone waiting until it is let go."""

    hanging: set[str] = field(default_factory=set[str])
    failing: set[str] = field(default_factory=set[str])
    asked: list[str] = field(default_factory=list[str])
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def fetch_metrics(self, pod: PodView, /) -> str:
        self.asked.append(pod.name)
        if pod.name in self.hanging:
            await self.let_go.wait()
            raise TransientError("timed out")
        if pod.name in self.failing:
            raise TransientError("HTTP 500")
        return "firebolt_running_queries 0\nfirebolt_suspended_queries 0\n"


async def test_given_pods_then_each_answers_for_itself() -> None:
    places, pods = ScrapePlaces(ManualClock(), engines=16), Pods(failing={"b"})
    answers = await places.fetch_activity(pods, [a_pod("a"), a_pod("b"), a_pod("c")])
    assert answers == [IDLE, "HTTP 500", IDLE]
    assert await places.fetch_activity(pods, []) == []


async def hang(places: ScrapePlaces, clock: ManualClock, pods: Pods, asked: Sequence[PodView]) -> list[Activity | str]:
    """Ask, and let the hanging ones time out after ten seconds."""
    pods.let_go.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(places.fetch_activity(pods, asked))
        await idle()
        await clock.advance(10)
        pods.let_go.set()
    return task.result()


async def test_given_a_pod_that_hung_then_it_is_left_alone_longer_each_time_and_others_are_not() -> None:
    clock, pods = ManualClock(), Pods(hanging={"a"}, failing={"b"})
    places, asked = ScrapePlaces(clock, engines=16), [a_pod("a"), a_pod("b"), a_pod("c")]
    assert await hang(places, clock, pods, asked) == ["timed out", "HTTP 500", IDLE]
    pauses = list[float]()
    for _ in range(4):
        pods.asked.clear()
        answers = await places.fetch_activity(pods, asked)
        pauses.append(places.pause_left(asked[0]))
        assert answers == [f"did not answer in time; asked again in {pauses[-1]:.0f} s", "HTTP 500", IDLE]
        assert pods.asked == ["b", "c"]
        await clock.advance(pauses[-1])
        pods.asked.clear()
        await hang(places, clock, pods, asked)
        assert pods.asked == ["a", "b", "c"]
    assert pauses == [10, 20, 40, 60]


async def test_given_a_pod_that_answers_again_then_its_silence_is_forgotten() -> None:
    clock, pods = ManualClock(), Pods(hanging={"a"})
    places, asked = ScrapePlaces(clock, engines=16), [a_pod("a")]
    await hang(places, clock, pods, asked)
    assert await places.fetch_activity(pods, asked) == ["did not answer in time; asked again in 10 s"]
    await clock.advance(10)
    pods.hanging.clear()
    assert await places.fetch_activity(pods, asked) == [IDLE]
    pods.hanging.add("a")
    pods.asked.clear()
    await hang(places, clock, pods, asked)
    assert places.pause_left(asked[0]) == 10


async def test_given_a_successor_at_another_address_then_it_is_asked() -> None:
    clock, pods = ManualClock(), Pods(hanging={"a"})
    places = ScrapePlaces(clock, engines=16)
    await hang(places, clock, pods, [a_pod("a", ip="10.0.0.1")])
    pods.hanging.clear()
    assert await places.fetch_activity(pods, [a_pod("a", ip="10.0.0.2")]) == [IDLE]


async def test_given_a_namespace_full_of_hanging_pods_then_it_is_told_at_once_and_others_go_on() -> None:
    clock, pods = ManualClock(), Pods(hanging={f"h{index}" for index in range(4)})
    places = ScrapePlaces(clock, engines=16)
    async with asyncio.TaskGroup() as group:
        for index in range(4):
            group.create_task(places.fetch_activity(pods, [a_pod(f"h{index}")]))
        await idle()
        await clock.advance(PATIENCE)
        assert await places.fetch_activity(pods, [a_pod("a"), a_pod("b")]) == [TOO_MANY, TOO_MANY]
        assert await places.fetch_activity(pods, [a_pod("a", namespace="other")]) == [IDLE]
        pods.let_go.set()
    assert await places.fetch_activity(pods, [a_pod("a")]) == [IDLE]


async def test_given_neighbours_that_have_only_just_begun_then_one_waits_for_them() -> None:
    clock, pods = ManualClock(), Pods(hanging={f"h{index}" for index in range(4)})
    places = ScrapePlaces(clock, engines=16)
    async with asyncio.TaskGroup() as group:
        for index in range(4):
            group.create_task(places.fetch_activity(pods, [a_pod(f"h{index}")]))
        await idle()
        waiting = group.create_task(places.fetch_activity(pods, [a_pod("a")]))
        await asyncio.sleep(0)
        assert not waiting.done()
        pods.let_go.set()
    assert waiting.result() == [IDLE]


async def test_given_an_engine_of_many_hanging_pods_then_it_does_not_take_all_that_the_door_sends() -> None:
    names = [f"h{index}" for index in range(PODS_AT_ONCE + 5)]
    pods = Pods(hanging=set(names))
    places = ScrapePlaces(ManualClock(), engines=16)
    async with asyncio.TaskGroup() as group:
        group.create_task(places.fetch_activity(pods, [a_pod(name) for name in names]))
        await idle()
        assert len(pods.asked) == PODS_AT_ONCE
        pods.let_go.set()
    assert len(pods.asked) == len(names)


async def test_given_a_single_worker_then_there_is_still_a_place() -> None:
    assert await ScrapePlaces(ManualClock(), engines=1).fetch_activity(Pods(), [a_pod("a")]) == [IDLE]


async def test_given_a_pass_that_is_cancelled_then_its_place_is_free_again() -> None:
    pods = Pods(hanging={"a"})
    places = ScrapePlaces(ManualClock(), engines=4)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await places.fetch_activity(pods, [a_pod("a")])
    assert await places.fetch_activity(pods, [a_pod("b")]) == [IDLE]


async def test_given_one_who_waited_for_the_only_place_then_the_next_one_finds_it_taken() -> None:
    pods = Pods(hanging={"first", "second", "third"})
    places = ScrapePlaces(ManualClock(), engines=4)
    async with asyncio.TaskGroup() as group:
        group.create_task(places.fetch_activity(pods, [a_pod("first")]))
        group.create_task(places.fetch_activity(pods, [a_pod("second")]))
        await idle()
        pods.let_go.set()
        pods.let_go = asyncio.Event()
        await idle()
        group.create_task(places.fetch_activity(pods, [a_pod("third")]))
        await idle()
        assert pods.asked == ["first", "second"]
        pods.let_go.set()
    assert pods.asked == ["first", "second", "third"]
