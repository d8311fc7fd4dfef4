"""What happens to an engine while queries come in: it rolls, parks and wakes, with the operator struck on the way."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.faults.cases import OF_EVENTS, OF_WRITES
from firebolt_local.campaign.faults.fault import Fault, Harm, fault, is_possible
from firebolt_local.campaign.faults.requests import BY_THE_CLOCK, RequestName
from firebolt_local.campaign.load.appetite import Sample, growth, sample
from firebolt_local.campaign.proxy.recording import Choice, nothing
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.campaign.stories.place import Place
from firebolt_local.campaign.stories.steps import ENGINE, INSTANCE, make_engine, make_instance
from firebolt_local.errors import LocalError
from firebolt_local.images.standin_images import ENGINE as FIRST_IMAGE
from firebolt_local.images.standin_images import ENGINE_NEXT
from firebolt_local.testing.convergence import is_at_rest
from firebolt_local.testing.ledger import World
from firebolt_local.testing.load import Load, Plan, steady_load
from firebolt_operator.api.names import gateway_name
from firebolt_operator.api.resources import FIREBOLT_ENGINES, SERVICES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.refs import Manifest, Ref

PER_SECOND: Final = 100.0
STEP_SECONDS: Final = 240.0
_BREATH_SECONDS: Final = 2.0
_SHARE: Final = 0.02  # of requests and events that something happens to
_SAMPLE_SECONDS: Final = 5.0
_PARKING: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "5s", "pollInterval": "1s"}
_STAYING: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "1h", "pollInterval": "1s"}
Tell = Callable[[Result], None]


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that is asked of the engine, and how many nodes it has afterwards."""

    name: str
    spec: Manifest
    replicas: int
    is_asked_meanwhile: bool  # nobody asks a parked engine, or it would not stay parked


def _image(name: str) -> Manifest:
    return {"template": {"spec": {"containers": [{"name": "engine", "image": name}]}}}


TURNS: Final = (
    Turn("load-rollout", _image(ENGINE_NEXT), 2, is_asked_meanwhile=True),
    Turn("load-park", {"autoStop": _PARKING}, 0, is_asked_meanwhile=False),
    Turn("load-wake", {"autoStop": _STAYING}, 2, is_asked_meanwhile=True),
)
_BACK: Final = Turn("back", _image(FIRST_IMAGE), 2, is_asked_meanwhile=True)


@dataclass(slots=True)
class UnderLoad:
    place: Place
    url: str
    sent: int = 0

    async def kill_everywhere(self, tell: Tell) -> None:
        """Kill -9 after every mutating request of each turn, one round of all three for each number."""
        longest = 0
        for turn in (*TURNS, _BACK):
            problems = await self._take(turn)
            if problems:
                raise LocalError(f"{turn.name}, without any fault: {problems[0]}")
            longest = max(longest, len(self.place.watchman.writes))
        for number in range(longest):
            for turn in (*TURNS, _BACK):
                tell(await self._struck(turn, number))

    async def _struck(self, turn: Turn, number: int) -> Result:
        before = self.sent
        problems = await self._take(turn, _kill_at(number))
        has_struck = self.place.watchman.struck.is_set()
        outcome = Outcome.BROKEN if problems else Outcome.GOOD if has_struck else Outcome.NOT_REACHED
        return Result(
            part="load",
            line=f"{turn.name}: kill-after write {number + 1}",
            outcome=outcome,
            problems=tuple(problems),
            counts={"queries": self.sent - before, "lost": sum("query" in problem for problem in problems)},
        )

    async def _take(self, turn: Turn, choice: Choice = nothing) -> list[str]:
        place = self.place
        place.forget()
        place.watchman.arm_with(choice, strike=lambda _: place.operator.restart())
        async with self._asked(turn) as load:
            edited = await place.client.merge_patch(Ref(FIREBOLT_ENGINES, place.namespace, ENGINE), {"spec": turn.spec})
            since: int = edited["metadata"]["generation"]
            problems = await place.until(_rests(turn.replicas, since), STEP_SECONDS)
            await asyncio.sleep(_BREATH_SECONDS)
        if load is not None:
            self.sent += len(load.answers)
            problems += [f"a query was lost: {each.problem}" for each in load.answers if not each.is_good][:5]
        return problems

    @asynccontextmanager
    async def _asked(self, turn: Turn) -> AsyncGenerator[Load | None]:
        if not turn.is_asked_meanwhile:
            yield None
            return
        async with steady_load(Plan(url=self.url, engine=ENGINE, per_second=PER_SECOND)) as load:
            yield load

    async def anything_for(self, seconds: float, seed: int, tell: Tell) -> None:
        """Random faults, one after the other, while the engine rolls again and again."""
        clock, rng, samples = asyncio.get_running_loop().time, random.Random(seed), list[Sample]()
        ends_at, image, problems, faults = clock() + seconds, ENGINE_NEXT, list[str](), 0
        while clock() < ends_at and not problems:
            async with asyncio.TaskGroup() as group:
                sampling = group.create_task(self._sampled(samples), name="appetite")
                turn = Turn("load-anything", _image(image), 2, is_asked_meanwhile=True)
                problems = await self._take(turn, _anything(rng))
                sampling.cancel()
            faults += self.place.watchman.strikes
            image = FIRST_IMAGE if image == ENGINE_NEXT else ENGINE_NEXT
        problems += growth(samples)
        tell(
            Result(
                part="load",
                line=f"load-anything: {seconds:g} s of seed {seed}",
                outcome=Outcome.BROKEN if problems else Outcome.GOOD,
                problems=tuple(problems),
                seconds=seconds,
                counts={"queries": self.sent, "faults": faults},
            )
        )

    async def _sampled(self, samples: list[Sample]) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            found = sample(self.place.operator.pid, self.place.watchman.under_way)
            if found is not None:
                samples.append(found)


def _kill_at(number: int) -> Choice:
    """After the write of that number, from 0."""
    left = [number]

    def choose(name: RequestName) -> Fault | None:
        if not name.of.is_mutating or name.of.kind in BY_THE_CLOCK:
            return None
        left[0] -= 1
        return fault(Harm.KILL_AFTER, name) if left[0] == -1 else None

    return choose


def _anything(rng: random.Random) -> Choice:
    def choose(name: RequestName) -> Fault | None:
        harms = [harm for harm in (*OF_WRITES, *OF_EVENTS, Harm.LATE) if is_possible(harm, name.of)]
        is_struck = bool(harms) and name.of.kind not in BY_THE_CLOCK and rng.random() < _SHARE
        return fault(rng.choice(harms), name) if is_struck else None

    return choose


def _rests(replicas: int, since: int) -> Callable[[World], list[str]]:
    rests = is_at_rest(replicas, since=since)

    def unrest(world: World) -> list[str]:
        found = world.get((FIREBOLT_ENGINES.kind, ENGINE))
        return [] if found and rests(parse_engine(found)) else [f"the engine is not at rest with {replicas} nodes"]

    return unrest


async def open_story(place: Place) -> UnderLoad:
    """An instance, an engine of two nodes, and the way for queries."""
    for step in (make_instance(), make_engine(autoStop=_STAYING)):
        await step.do(place)
        if problems := await place.until(step.unrest, STEP_SECONDS):
            raise LocalError(f"without any fault: {problems[0]}; {place.operator.log} says why")
    service = await place.client.get(Ref(SERVICES, place.namespace, gateway_name(INSTANCE)))
    if service is None:
        raise LocalError("the instance is ready, but its gateway has no Service")
    return UnderLoad(place, f"http://{service['spec']['clusterIP']}:{service['spec']['ports'][0]['port']}/")
