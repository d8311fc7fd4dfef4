"""A leader stands still before a write, another takes over, and the first goes on: does it write once more?"""

import asyncio
from typing import Final

from firebolt_local.campaign.faults.fault import Fault
from firebolt_local.campaign.judge.verdict import Reference
from firebolt_local.campaign.stories.chapters import Chapter
from firebolt_local.campaign.stories.place import PATIENCE_SECONDS, Place
from firebolt_local.campaign.stories.runs import Verdict, begin, leftovers, unrest

_AFTERMATH_SECONDS: Final = 7.0
"""Longer than the proxy waits for a hang-up before it lets the request through."""


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
        problems += await _aftermath(place)
    place.watchman.arm(None, place.leader)
    problems = problems or await unrest(place, reference) or await leftovers(place)
    return Verdict(tuple(problems), has_struck)


async def _aftermath(place: Place) -> list[str]:
    """Whoever stood still learns that it no longer leads."""
    watchman = place.watchman
    moment = asyncio.get_running_loop().time()
    watchman.is_going_on.set()
    await asyncio.sleep(_AFTERMATH_SECONDS)
    problems = [f"the stopped leader wrote: {name}" for name in watchman.written_since(moment)]
    if watchman.has_landed:
        problems.append("the request that was on its way when the leader was stopped has landed")
    return problems
