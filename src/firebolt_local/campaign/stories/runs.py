"""How is a chapter run once, with a fault or without, and judged?"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.faults.fault import Fault
from firebolt_local.campaign.judge.comparison import differences
from firebolt_local.campaign.judge.history import made, made_too_often, unserved
from firebolt_local.campaign.judge.settling import unsettled
from firebolt_local.campaign.judge.verdict import Reference
from firebolt_local.campaign.stories.chapters import Chapter
from firebolt_local.campaign.stories.logins import LOGIN
from firebolt_local.campaign.stories.place import PATIENCE_SECONDS, Place
from firebolt_local.campaign.stories.steps import ENGINE, Step, make_instance
from firebolt_local.errors import LocalError
from firebolt_local.testing.ledger import World
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    SECRETS,
)

_REST_SECONDS: Final = 60.0
"""Within which somebody who was killed is back, and has nothing more to do."""
_MOST_PROBLEMS: Final = 12
_IN_THE_WAY: Final = (FIREBOLT_ENGINES, FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS, FIREBOLT_INSTANCES)
"""Engines before what they refer to."""


class BrokenPlaceError(LocalError):
    """Nothing can begin here any more."""


@dataclass(frozen=True, slots=True)
class Verdict:
    problems: tuple[str, ...]
    has_struck: bool


async def record(place: Place, chapter: Chapter) -> Reference:
    """Without a fault."""
    await begin(place, chapter, None)
    await _take(place, chapter.step)
    reference = Reference(
        place.picture(), frozenset(), made(place.changes), tuple(each.name for each in place.watchman.passed)
    )
    await clear(place)
    return reference


async def try_fault(place: Place, chapter: Chapter, fault: Fault, reference: Reference) -> Verdict:
    await begin(place, chapter, fault)
    await chapter.step.do(place)
    patience = place.patience_seconds + fault.seconds
    problems = await place.until(lambda _: reference.problems(place.picture()), patience)
    problems = problems or await unrest(place, reference, fault.seconds)
    problems += made_too_often(place.changes, reference.made)
    if chapter.is_about_engine:
        problems += unserved(place.changes, ENGINE)
    has_struck = place.watchman.struck.is_set()
    problems = problems or await leftovers(place)
    return Verdict(tuple(problems[:_MOST_PROBLEMS]), has_struck)


async def begin(place: Place, chapter: Chapter, fault: Fault | None) -> None:
    place.watchman.arm(None)
    place.ends = 0
    await furnish(place, has_instance=chapter.has_instance)
    for step in chapter.before:
        await _take(place, step)
    place.forget()
    place.watchman.arm(fault, place.leader, lambda _: place.operators[place.leader].restart())


async def furnish(place: Place, *, has_instance: bool) -> None:
    """An instance that stays for all chapters about engines, or none."""
    if place.base is not None and bool(place.base) == has_instance:
        return
    await clear_everything(place)
    if has_instance:
        await _take(place, make_instance())
    place.base = place.picture()


async def _take(place: Place, step: Step) -> None:
    await step.do(place)
    if problems := await place.until(lambda world: [*step.unrest(world), *unsettled(world)], PATIENCE_SECONDS):
        raise BrokenPlaceError(f"without any fault: {problems[0]}; {place.operator.log} says why")
    if not await place.until_quiet(PATIENCE_SECONDS):
        raise BrokenPlaceError(f"without any fault it does not come to rest; {place.operator.log} says why")


async def unrest(place: Place, reference: Reference, held_seconds: float = 0.0) -> list[str]:
    """It got there; does it stay there, and stop writing? What the proxy holds back has to arrive first."""
    if not await place.until_quiet(_REST_SECONDS + held_seconds):
        last = [str(each) for each in place.watchman.writes[-3:]] or ["nothing by the operator"]
        return [f"it does not come to rest; last written: {', '.join(last)}"]
    return reference.problems(place.picture())


async def leftovers(place: Place) -> list[str]:
    try:
        await clear(place)
    except BrokenPlaceError as err:
        return [f"afterwards: {err}"]
    return []


async def clear(place: Place) -> None:
    """Back to what is there between two cases, and not an object more."""
    base = place.base or {}
    await _delete(place, keep_instance=bool(base))
    left = await place.until(lambda _: [str(each) for each in differences(place.picture(), base)], PATIENCE_SECONDS)
    if left:
        raise BrokenPlaceError(f"left behind or lost: {'; '.join(left[:3])}")


async def clear_everything(place: Place) -> None:
    place.base = {}
    await clear(place)


async def _delete(place: Place, *, keep_instance: bool) -> None:
    for resource in _IN_THE_WAY:
        if keep_instance and resource == FIREBOLT_INSTANCES:
            continue
        names = [name for kind, name in place.world if kind == resource.kind]
        async with asyncio.TaskGroup() as group:
            for name in names:
                group.create_task(place.delete(resource, name), name=f"delete {name}")
        await place.until(_all_gone(resource.kind), PATIENCE_SECONDS)
    if (SECRETS.kind, LOGIN) in place.world:
        await place.delete(SECRETS, LOGIN)


def _all_gone(wanted: str) -> Callable[[World], list[str]]:
    return lambda world: [name for kind, name in world if kind == wanted]
