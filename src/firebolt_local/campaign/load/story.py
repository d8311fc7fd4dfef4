"""What happens to an engine while queries come in: it rolls, parks and wakes, with the operator struck on the way."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.load.appetite import Sample, growth, sample
from firebolt_local.campaign.load.turns import STAYING, TURNS, Asked, Turn, anything, at_random_line, kill_at, rolling
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
from firebolt_operator.refs import Ref

PER_SECOND: Final = 100.0
STEP_SECONDS: Final = 240.0
_BREATH_SECONDS: Final = 2.0
_MOST_TOLD: Final = 5
_SAMPLE_SECONDS: Final = 5.0
Tell = Callable[[Result], None]


@dataclass(slots=True)
class UnderLoad:
    place: Place
    url: str
    sent: int = 0
    lost: int = 0

    async def kill_everywhere(self, asked: Asked, tell: Tell) -> None:
        """Kill -9 after every mutating request of each turn, one round of all of them for each number."""
        longest = 0
        for turn in TURNS:
            problems = await self._take(turn)
            if problems:
                raise LocalError(f"{turn.name}, without any fault: {problems[0]}")
            longest = max(longest, len(self.place.watchman.writes))
        for number in range(longest):
            for again in range(max(asked.times(turn.line(number)) for turn in TURNS)):
                await self._round([turn for turn in TURNS if asked.times(turn.line(number)) > again], number, tell)

    async def _round(self, struck: Sequence[Turn], number: int, tell: Tell) -> None:
        """What nobody asks for is taken all the same: the next turn begins where it ends."""
        for turn in TURNS:
            if turn in struck:
                tell(await self._struck(turn, number))
            else:
                await self._take(turn)

    async def _struck(self, turn: Turn, number: int) -> Result:
        sent, lost = self.sent, self.lost
        problems = await self._take(turn, kill_at(number))
        has_struck = self.place.watchman.struck.is_set()
        outcome = Outcome.BROKEN if problems else Outcome.GOOD if has_struck else Outcome.NOT_REACHED
        return Result(
            part="load",
            line=turn.line(number),
            outcome=outcome,
            problems=tuple(problems),
            counts={"queries": self.sent - sent, "queries lost": self.lost - lost},
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
            bad = [each for each in load.answers if not each.is_good]
            self.sent, self.lost = self.sent + len(load.answers), self.lost + len(bad)
            problems += [f"a query was lost: {each.problem}" for each in bad[:_MOST_TOLD]]
        return problems

    @asynccontextmanager
    async def _asked(self, turn: Turn) -> AsyncGenerator[Load | None]:
        if not turn.is_asked_meanwhile:
            yield None
            return
        async with steady_load(Plan(url=self.url, engine=ENGINE, per_second=PER_SECOND)) as load:
            yield load

    async def anything_for(self, asked: Asked, tell: Tell) -> None:
        """Random faults, one after the other, while the engine rolls again and again."""
        clock, rng, samples = asyncio.get_running_loop().time, random.Random(asked.seed), list[Sample]()
        ends_at, image, problems, faults = clock() + asked.seconds, ENGINE_NEXT, list[str](), 0
        sent, lost = self.sent, self.lost
        while clock() < ends_at and not problems:
            async with asyncio.TaskGroup() as group:
                sampling = group.create_task(self._sampled(samples), name="appetite")
                problems = await self._take(rolling(image), anything(rng))
                sampling.cancel()
            faults += self.place.watchman.strikes
            image = FIRST_IMAGE if image == ENGINE_NEXT else ENGINE_NEXT
        problems += growth(samples)
        tell(
            Result(
                part="load",
                line=at_random_line(asked),
                outcome=Outcome.BROKEN if problems else Outcome.GOOD,
                problems=tuple(problems),
                seconds=asked.seconds,
                counts={"queries": self.sent - sent, "queries lost": self.lost - lost, "random faults": faults},
            )
        )

    async def _sampled(self, samples: list[Sample]) -> None:
        while True:
            await asyncio.sleep(_SAMPLE_SECONDS)
            found = sample(self.place.operator.pid, self.place.watchman.under_way)
            if found is not None:
                samples.append(found)


def _rests(replicas: int, since: int) -> Callable[[World], list[str]]:
    rests = is_at_rest(replicas, since=since)

    def unrest(world: World) -> list[str]:
        found = world.get((FIREBOLT_ENGINES.kind, ENGINE))
        return [] if found and rests(parse_engine(found)) else [f"the engine is not at rest with {replicas} nodes"]

    return unrest


async def open_story(place: Place) -> UnderLoad:
    """An instance, an engine of two nodes, and the way for queries."""
    for step in (make_instance(), make_engine(autoStop=STAYING)):
        await step.do(place)
        if problems := await place.until(step.unrest, STEP_SECONDS):
            raise LocalError(f"without any fault: {problems[0]}; {place.operator.log} says why")
    service = await place.client.get(Ref(SERVICES, place.namespace, gateway_name(INSTANCE)))
    if service is None:
        raise LocalError("the instance is ready, but its gateway has no Service")
    return UnderLoad(place, f"http://{service['spec']['clusterIP']}:{service['spec']['ports'][0]['port']}/")
