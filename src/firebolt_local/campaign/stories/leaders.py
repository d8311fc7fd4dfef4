"""A leader stands still before a write, another takes over, and the first goes on: does it write once more?"""

import asyncio
from typing import Final

from firebolt_local.campaign.faults.fault import Fault
from firebolt_local.campaign.judge.verdict import Reference
from firebolt_local.campaign.stories.chapters import Chapter
from firebolt_local.campaign.stories.operator_process import OperatorProcess
from firebolt_local.campaign.stories.place import LOOK_SECONDS, PATIENCE_SECONDS, Place
from firebolt_local.campaign.stories.runs import Verdict, begin, leftovers, unrest

_AFTERMATH_SECONDS: Final = 5.0
"""Whoever goes on, and has the processor for it, does so within that."""


async def try_stop(place: Place, chapter: Chapter, fault: Fault, reference: Reference) -> Verdict:
    await begin(place, chapter, None)
    stopped = place.leader
    operator = place.operators[stopped]
    place.watchman.arm(fault, stopped, lambda _: operator.freeze())
    try:
        await chapter.step.do(place)
        problems = await place.until(lambda _: reference.problems(place.picture()), 2 * PATIENCE_SECONDS)
    finally:
        operator.thaw()
    has_struck = place.watchman.struck.is_set()
    if has_struck:
        problems += await _aftermath(place, operator)
    place.watchman.arm(None, place.leader)
    problems = problems or await unrest(place, reference) or await leftovers(place)
    return Verdict(tuple(problems), has_struck)


async def _aftermath(place: Place, stopped: OperatorProcess) -> list[str]:
    """Whoever stood still learns that it no longer leads."""
    watchman = place.watchman
    moment = asyncio.get_running_loop().time()
    watchman.is_going_on.set()
    await watchman.is_decided.wait()
    await _until_ended(stopped)
    problems = [f"the stopped leader wrote: {name}" for name in watchman.written_since(moment)]
    if watchman.has_landed:
        problems.append("the request that was on its way when the leader was stopped has landed")
    return problems


async def _until_ended(stopped: OperatorProcess) -> None:
    """Or until it has had time enough for one more write: not everybody ends who no longer leads."""
    left = _AFTERMATH_SECONDS
    while stopped.is_alive and left > 0:
        await asyncio.sleep(LOOK_SECONDS)
        left -= 0 if stopped.is_busy else LOOK_SECONDS
