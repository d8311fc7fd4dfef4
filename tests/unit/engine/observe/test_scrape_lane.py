"""Who is asked when, and who is told? Nobody waits for a pod but the lane."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.engine.answers import Activity, pod_key
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engine.observe.scrape_lane import Purpose, ScrapeLane, Topic, waiting_line
from firebolt_operator.engine.observe.scrape_places import ScrapePlaces
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import TransientError
from firebolt_operator.pace import Pace
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.objects import Key
from tests.support.engines import SECOND, a_pod
from tests.support.manual_clock import NOON, ManualClock, idle
from tests.support.one_engine import INSTANCE, MemoryApi, an_object
from tests.support.recorders import QueueNotes

ENGINE: Key = ("ns", "eng")
DRAIN, ACTIVITY = Topic(ENGINE, Purpose.DRAIN), Topic(ENGINE, Purpose.ACTIVITY)
POD = a_pod("eng-g0-0")
IDLE = Activity(0, 0)


@dataclass
class Pods:
    """Reached through the API server; some hang, and some make the client fail in a way that nobody expects."""

    hanging: set[str] = field(default_factory=set[str])
    broken: set[str] = field(default_factory=set[str])
    asked: list[str] = field(default_factory=list[str])
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, **_how: object) -> bytes:
        del port, path
        self.asked.append(pod.name)
        if pod.name in self.broken:
            raise RuntimeError("nobody thought of this")
        if pod.name in self.hanging:
            await self.let_go.wait()
            raise TransientError("timed out")
        return b"firebolt_running_queries 0\nfirebolt_suspended_queries 0\n"


@dataclass
class Place:
    clock: ManualClock = field(default_factory=ManualClock)
    pods: Pods = field(default_factory=Pods)
    engines: int = 4
    pace: Pace | None = None
    told: list[Key] = field(default_factory=list[Key])
    lane: ScrapeLane = field(init=False)

    def __post_init__(self) -> None:
        caches = engine_caches((), "")
        self.api = MemoryApi(caches)
        self.lane = ScrapeLane(
            instances=caches.instances,
            reader=self.pods,  # type: ignore[arg-type]
            clock=self.clock,
            places=ScrapePlaces(self.clock, engines=self.engines),
            proxy_pace=self.pace,
            line=waiting_line(self.clock, QueueNotes()),
            answered=self.told.append,
        )

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.lane.run())
            try:
                yield
            finally:
                task.cancel()

    def ask(self, topic: Topic, *pods: PodView) -> None:
        self.lane.ask(topic, "inst", pods)

    def answer(self, topic: Topic, pod: PodView = POD) -> Activity | str | None:
        answers = self.lane.known(topic)
        return answers.told.get(pod_key(pod)) if answers else None


def engine(number: int, namespace: str = "ns") -> tuple[Topic, PodView]:
    name = f"e{number}"
    return Topic((namespace, name), Purpose.ACTIVITY), a_pod(f"{name}-g0-0", namespace=namespace)


async def test_whoever_asks_goes_on_and_is_told_when_there_is_an_answer() -> None:
    place = Place()
    async with place.running():
        place.ask(DRAIN, POD)
        assert (place.answer(DRAIN), place.told) == (None, [])
        await place.clock.advance(3)
        assert (place.answer(DRAIN), place.told) == (IDLE, [ENGINE])
    answers = place.lane.known(DRAIN)
    assert answers is not None
    assert answers.asked_at == NOON
    assert place.lane.known(ACTIVITY) is None


async def test_given_many_passes_then_pods_are_asked_once_at_a_time() -> None:
    place = Place(pods=Pods(hanging={POD.name}))
    async with place.running():
        for _ in range(3):
            place.ask(DRAIN, POD)
            await idle()
        assert place.pods.asked == [POD.name]
        place.pods.let_go.set()
        await idle()
        assert (place.answer(DRAIN), place.told) == ("timed out", [ENGINE])
        place.ask(DRAIN, POD)
        await idle()
    assert place.pods.asked == [POD.name] * 2


async def test_each_answer_is_news_once() -> None:
    place = Place()
    async with place.running():
        place.ask(DRAIN, POD)
        await idle()
    assert [place.lane.is_first_look(DRAIN) for _ in range(2)] == [True, False]


async def test_given_a_full_lane_then_drains_go_before_polls_and_the_time_of_asking_is_that_of_the_request() -> None:
    place = Place(pods=Pods(hanging={"e0-g0-0"}), engines=1)
    async with place.running():
        place.ask(*engine(0))
        await idle()
        place.ask(*engine(1))
        place.ask(DRAIN, POD)
        await place.clock.advance(60)
        place.pods.let_go.set()
        await idle()
    assert place.pods.asked == ["e0-g0-0", POD.name, "e1-g0-0"]
    answers = place.lane.known(DRAIN)
    assert answers is not None
    assert answers.asked_at == NOON + 60 * SECOND


async def test_given_an_engine_that_is_gone_then_its_answer_is_too() -> None:
    place = Place(pods=Pods(hanging={POD.name}))
    async with place.running():
        place.ask(DRAIN, POD)
        await idle()
        place.lane.forget(ENGINE)
        place.pods.let_go.set()
        await idle()
    assert (place.lane.known(DRAIN), place.told) == (None, [])


async def test_given_an_answer_that_nobody_expects_then_it_is_a_failure_and_the_lane_goes_on() -> None:
    place = Place(pods=Pods(broken={POD.name}))
    async with place.running():
        place.ask(DRAIN, POD)
        place.ask(*engine(1))
        await idle()
    assert "nobody thought of this" in str(place.answer(DRAIN))
    topic, pod = engine(1)
    assert place.answer(topic, pod) == IDLE


async def test_given_a_limit_then_no_more_than_that_go_through_the_api_server_each_second() -> None:
    place = Place(engines=32, pace=Pace(per_second=2, burst=2))
    async with place.running():
        for number in range(6):
            place.ask(*engine(number, f"ns-{number}"))
        await idle()
        assert len(place.pods.asked) == 2
        await place.clock.advance(1)
        assert len(place.pods.asked) == 4
        await place.clock.advance(1)
        assert len(place.pods.asked) == 6


async def test_given_pods_that_are_asked_directly_then_the_limit_is_not_theirs() -> None:
    place = Place(pace=Pace(per_second=1, burst=1))
    instance: Manifest = INSTANCE | {"spec": INSTANCE["spec"] | {"metricScrapeMode": "PodIP"}}
    place.api.put(an_object(FIREBOLT_INSTANCES, "inst", instance, "ns"))
    async with place.running():
        for number in range(3):
            place.ask(engine(number)[0], a_pod(f"e{number}-g0-0", ip=""))
        await idle()
    assert len(place.told) == 3
    assert place.pods.asked == []


MINUTE = timedelta(minutes=1)


def test_given_a_thousand_engines_then_their_turns_are_spread_over_the_interval() -> None:
    place = Place()
    firsts = sorted(place.lane.turn_in(("ns", f"e{number}"), f"uid-{number}", MINUTE) for number in range(1000))
    in_each_second = [sum(int(first.total_seconds()) == second for first in firsts) for second in range(60)]
    assert max(in_each_second) < 40
    assert min(in_each_second) > 3


def test_given_passes_at_any_time_then_an_engine_has_one_turn_in_each_interval() -> None:
    place, turns = Place(), 0
    for _ in range(600):
        turns += not place.lane.turn_in(ENGINE, "uid", MINUTE)
        place.clock.elapsed += 1
    assert turns == 10


def test_given_a_shorter_interval_then_nobody_waits_for_the_end_of_the_longer_one() -> None:
    place = Place()
    place.lane.turn_in(ENGINE, "uid", timedelta(hours=24))
    assert place.lane.turn_in(ENGINE, "uid", SECOND) <= SECOND
