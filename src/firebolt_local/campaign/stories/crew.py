"""Who works off the cases? As many workers as places, each with an operator of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from firebolt_local.campaign.faults.cases import Case
from firebolt_local.campaign.faults.fault import Harm
from firebolt_local.campaign.judge.verdict import Reference, reference_of
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.campaign.stories.arena import Arena
from firebolt_local.campaign.stories.chapters import Chapter, chapter
from firebolt_local.campaign.stories.leaders import try_stop
from firebolt_local.campaign.stories.place import PATIENCE_SECONDS, Place, open_place
from firebolt_local.campaign.stories.runs import BrokenPlaceError, Verdict, record, try_fault
from firebolt_local.testing.namespaces import empty_namespace

TIMES: Final = 3
"""How often a case is seen to fail before it is told: once more, and once more."""


@dataclass(slots=True)
class Worker:
    """Has a place, and takes another one whenever something broke it."""

    arena: Arena
    start: str
    operators: int = 1  # in its place; two where leaders take turns
    patience_seconds: float = PATIENCE_SECONDS
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _place: Place | None = None

    async def place(self) -> Place:
        if self._place is None:
            self._place = await self._stack.enter_async_context(
                open_place(self.arena, self.start, operators=self.operators, patience_seconds=self.patience_seconds)
            )
        return self._place

    async def leave(self) -> None:
        """For another place; nothing goes on in this one."""
        left, self._place = self._place, None
        await self.close()
        if left is not None:
            await asyncio.to_thread(empty_namespace, self.arena.cluster.http, left.namespace)

    async def close(self) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()

    async def record(self, story: Chapter) -> Reference:
        return await record(await self.place(), story)

    async def run(self, case: Case, reference: Reference) -> Verdict:
        try:
            verdict = await self._tried(case, reference)
        except BrokenPlaceError:
            # Whatever was before has left something: it was judged, and this case has not begun.
            await self.leave()
            verdict = await self._tried(case, reference)
        if verdict.problems:
            await self.leave()
        return verdict

    async def _tried(self, case: Case, reference: Reference) -> Verdict:
        attempt = try_stop if case.fault.harm is Harm.STOP else try_fault
        return await attempt(await self.place(), chapter(case.chapter), case.fault, reference)


@dataclass(slots=True)
class Crew:
    workers: list[Worker]
    references: dict[str, Reference] = field(default_factory=dict[str, Reference])
    times: int = TIMES

    async def learn(self, stories: Sequence[Chapter]) -> None:
        """Each twice, in different places."""
        waiting = [story for story in stories if story.name not in self.references]
        pairs = [self.workers[index : index + 2] for index in range(0, len(self.workers) - 1, 2)] or [
            [self.workers[0], self.workers[0]]
        ]

        async def work_off(pair: list[Worker]) -> None:
            while waiting:
                story = waiting.pop(0)
                self.references[story.name] = await _learn(pair, story)

        async with asyncio.TaskGroup() as group:
            for pair in pairs:
                group.create_task(work_off(pair), name="learn")

    async def work_off(self, part: str, cases: Sequence[Case], tell: Callable[[Result], None]) -> None:
        waiting = list(cases)

        async def work(worker: Worker) -> None:
            while waiting:
                tell(await self._judge(part, worker, waiting.pop(0)))

        await self.share(work)

    async def share(self, work: Callable[[Worker], Coroutine[Any, Any, None]]) -> None:
        """Everybody does it until there is nothing left to do."""
        async with asyncio.TaskGroup() as group:
            for worker in self.workers:
                group.create_task(work(worker), name="worker")

    async def _judge(self, part: str, worker: Worker, case: Case) -> Result:
        clock = asyncio.get_running_loop().time
        began_at = clock()
        verdict = await worker.run(case, self.references[case.chapter])
        shown = ""
        if verdict.problems:
            again = [await worker.run(case, self.references[case.chapter]) for _ in range(self.times - 1)]
            shown = f"{1 + sum(bool(each.problems) for each in again)} of {self.times}"
        outcome = Outcome.BROKEN if verdict.problems else Outcome.GOOD if verdict.has_struck else Outcome.NOT_REACHED
        return Result(
            part=part,
            line=str(case),
            outcome=outcome,
            problems=verdict.problems,
            seconds=round(clock() - began_at, 1),
            shown=shown,
        )


async def _learn(pair: list[Worker], story: Chapter) -> Reference:
    first, second = pair
    if first is second:
        return reference_of(await first.record(story), await first.record(story))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(worker.record(story), name=story.name) for worker in (first, second)]
    return reference_of(tasks[0].result(), tasks[1].result())


@asynccontextmanager
async def open_crew(
    arena: Arena, start: str, places: int, *, operators: int = 1, patience_seconds: float = PATIENCE_SECONDS
) -> AsyncGenerator[Crew]:
    crew = Crew([Worker(arena, start, operators, patience_seconds) for _ in range(places)])
    try:
        yield crew
    finally:
        for worker in crew.workers:
            await worker.close()
