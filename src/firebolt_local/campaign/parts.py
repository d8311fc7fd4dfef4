"""Of which parts does a campaign consist, and what is run for each?"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

from firebolt_local.campaign.edits.crew import work_off_chains
from firebolt_local.campaign.edits.draw import chains
from firebolt_local.campaign.faults.cases import (
    BASIC,
    LATE_SECONDS,
    OF_WRITES,
    QUICK,
    Case,
    cases_of_events,
    cases_of_writes,
)
from firebolt_local.campaign.faults.fault import Harm
from firebolt_local.campaign.faults.requests import RequestName
from firebolt_local.campaign.load.run import run_under_load
from firebolt_local.campaign.plan import EDITS, EVENTS, FAULTS, LEADERS, QUICK_PART, Plan
from firebolt_local.campaign.report.results import Result
from firebolt_local.campaign.stories.arena import Arena, open_arena
from firebolt_local.campaign.stories.chapters import CHAPTERS, Chapter, chapter
from firebolt_local.campaign.stories.crew import Crew, open_crew

QUICK_CHAPTERS: Final = ("scale", "wake")
_LEADERS_CHAPTER: Final = "image"
Tell = Callable[[Result], None]


async def run(plan: Plan, folder: Path, known: Mapping[str, Result], tell: Tell) -> None:
    """Cases that are known are not tried again. The folder stays if something went wrong: logs say what."""
    if asked := plan.under_load():
        await run_under_load(plan.start_under_load, folder, asked, tell)
    if plan.is_simulated():
        await _run_simulated(plan, folder, known, tell)
    shutil.rmtree(folder, ignore_errors=True)


async def _run_simulated(plan: Plan, folder: Path, known: Mapping[str, Result], tell: Tell) -> None:
    async with open_arena(folder, has_certificates=plan.needs_certificates()) as arena:
        await (run_lines(arena, plan, tell) if plan.only else run_on(arena, plan, known, tell))


async def run_on(arena: Arena, plan: Plan, known: Mapping[str, Result], tell: Tell) -> None:
    async with _crew(arena, plan) as crew:
        if QUICK_PART in plan.parts:
            await _quick(crew, known, tell)
        if FAULTS in plan.parts:
            await _faults(crew, [each for each in plan.stories() if not each.is_slow], known, tell)
        if EDITS in plan.parts:
            await work_off_chains(crew, chains(plan.edits, plan.seed), known, tell)
        references = crew.references
    slow = [each for each in plan.stories() if each.is_slow and FAULTS in plan.parts]
    if slow or EVENTS in plan.parts:
        # Whoever waits needs no processor.
        async with _crew(arena, replace(plan, places=2 * plan.places)) as patient:
            patient.references = references
            await _faults(patient, slow, known, tell)
            await _events(patient, plan.stories() if EVENTS in plan.parts else [], known, tell)
    if LEADERS in plan.parts:
        await _leaders(arena, plan, known, tell)


async def run_lines(arena: Arena, plan: Plan, tell: Tell) -> None:
    """Only these, as often as each is named."""
    cases = plan.cases()
    stops = [case for case in cases if case.fault.harm is Harm.STOP]
    async with _crew(arena, plan) as crew:
        crew.times = 1
        await _work_off(crew, FAULTS, [case for case in cases if case not in stops], tell)
        await work_off_chains(crew, plan.chains(), {}, tell)
    if stops:
        async with _crew(arena, plan, operators=2) as crew:
            crew.times = 1
            await _work_off(crew, LEADERS, stops, tell)


def _crew(arena: Arena, plan: Plan, *, operators: int = 1) -> AbstractAsyncContextManager[Crew]:
    start = plan.start if operators == 1 else plan.start_leaders
    return open_crew(arena, start, plan.places, operators=operators, patience_seconds=plan.patience_seconds)


async def _work_off(crew: Crew, part: str, cases: Sequence[Case], tell: Tell) -> None:
    stories = {case.chapter: chapter(case.chapter) for case in cases}
    await crew.learn(list(stories.values()))
    await crew.work_off(part, cases, tell)


async def _leaders(arena: Arena, plan: Plan, known: Mapping[str, Result], tell: Tell) -> None:
    async with _crew(arena, plan, operators=2) as crew:
        story = chapter(_LEADERS_CHAPTER)
        await crew.learn([story])
        cases = cases_of_writes(story.name, _passed(crew, story), (Harm.STOP,))
        await crew.work_off(LEADERS, _new(cases, known), tell)


async def _quick(crew: Crew, known: Mapping[str, Result], tell: Tell) -> None:
    stories = [each for each in CHAPTERS if each.name in QUICK_CHAPTERS]
    await crew.learn(stories)
    cases = [case for each in stories for case in cases_of_writes(each.name, _passed(crew, each), QUICK)]
    await crew.work_off(FAULTS, _new(cases, known), tell)


async def _faults(crew: Crew, stories: Sequence[Chapter], known: Mapping[str, Result], tell: Tell) -> None:
    await crew.learn(stories)
    harms = {each.name: BASIC if each.is_slow else OF_WRITES for each in stories}
    cases = [case for each in stories for case in cases_of_writes(each.name, _passed(crew, each), harms[each.name])]
    await crew.work_off(FAULTS, _new(cases, known), tell)


async def _events(crew: Crew, stories: Sequence[Chapter], known: Mapping[str, Result], tell: Tell) -> None:
    await crew.learn(stories)
    late = {each.name: LATE_SECONDS[-1:] if each.is_slow else LATE_SECONDS for each in stories}
    cases = [case for each in stories for case in cases_of_events(each.name, _passed(crew, each), late[each.name])]
    await crew.work_off(EVENTS, _new(cases, known), tell)


def _passed(crew: Crew, story: Chapter) -> Sequence[RequestName]:
    return crew.references[story.name].passed


def _new(cases: Sequence[Case], known: Mapping[str, Result]) -> list[Case]:
    return [case for case in cases if str(case) not in known]
