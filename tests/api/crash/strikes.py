"""One scenario, again and again, with the operator struck at a later write each time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from tests.api.crash.lanes import Lane
from tests.api.crash.mortal import Ending

MOST_SPARED: Final = 3
"""How pods become ready decides how often a status is written towards the end: one run may get by with fewer writes."""
L = TypeVar("L", bound=Lane)
Step = Callable[[L], Coroutine[Any, Any, None]]


@dataclass(frozen=True, kw_only=True)
class Scenario(Generic[L]):
    name: str
    before: Step[L]  # brings the lane to where the scenario begins
    act: Step[L]
    after: Callable[[L], Step[L]]  # asked before the act, how it must end


async def strike_at_every_write(scenario: Scenario[L], lanes: list[L], judge: Callable[[L], None]) -> None:
    """`judge` looks at the history of a lane once a case is over."""
    writes = await _cleanly(scenario, lanes[0])
    print(f"\n{scenario.name}: {len(writes)} writes", *writes, sep="\n  ")
    cases = [(fatal, ending) for fatal in range(1, len(writes) + 1) for ending in Ending]
    began_at, spared = time.monotonic(), list[int]()

    async def work_off(lane: L) -> None:
        while waiting:
            fatal, ending = waiting.pop(0)
            if not await _struck(scenario, lane, fatal, ending):
                spared.append(fatal)
            judge(lane)

    waiting = list(cases)
    async with asyncio.TaskGroup() as group:
        for lane in lanes:
            group.create_task(work_off(lane), name=lane.namespace)
    print(f"{scenario.name}: {len(cases)} cases in {time.monotonic() - began_at:.1f} s")
    assert all(fatal > len(writes) - MOST_SPARED for fatal in spared), f"never came to its write {spared}"


async def _cleanly(scenario: Scenario[L], lane: L) -> list[str]:
    """What is written when nobody dies."""
    finish = await _begin(scenario, lane, 0, Ending.SURVIVED)
    await finish(lane)
    return list(lane.operator.writes)


async def _struck(scenario: Scenario[L], lane: L, fatal: int, ending: Ending) -> bool:
    """Whether it came to that write at all."""
    dying = lane.operator
    try:
        finish = await _begin(scenario, lane, fatal, ending)
        await _first(dying.struck.wait(), finish(lane))
        if dying.struck.is_set() and ending is not Ending.SURVIVED:
            await lane.revive()
        await finish(lane)
    except Exception as err:
        err.add_note(f"{scenario.name}, {ending} write {fatal}: {dying.writes}")
        raise
    return dying.struck.is_set()


async def _first(*ways: Coroutine[Any, Any, object]) -> None:
    """Until one of them is over."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(way) for way in ways]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()


async def _begin(scenario: Scenario[L], lane: L, fatal: int, ending: Ending) -> Step[L]:
    await scenario.before(lane)
    finish = scenario.after(lane)
    lane.ledger.forget(lane.namespace)
    lane.operator.arm(fatal, ending)
    await scenario.act(lane)
    return finish
