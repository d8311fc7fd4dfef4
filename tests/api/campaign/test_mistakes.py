"""The judge is judged first: ten operators with a mistake each are found out, and the one without any is not."""

import asyncio
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from firebolt_local.campaign.command import OUR_LEADERS, OURS
from firebolt_local.campaign.parts import run_lines
from firebolt_local.campaign.plan import Plan
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.campaign.stories.arena import Arena
from firebolt_local.campaign.stories.place import PATIENCE_SECONDS
from firebolt_local.errors import LocalError
from firebolt_local.testing.groups import without_groups
from tests.support.campaign.mistakes import MISTAKES, SOURCE, Mistake, planted

AT_A_TIME = 3
HASTE_SECONDS = 20.0
"""Whoever is lost does not get there later either."""
pytestmark = pytest.mark.slow


def copied(folder: Path, mistake: Mistake) -> Path:
    shutil.copytree(SOURCE, folder / SOURCE.name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / SOURCE.name / mistake.file).write_text(planted(mistake), encoding="utf-8")
    return folder


async def judged(arena: Arena, lines: list[str], source: Path, patience_seconds: float) -> list[Result]:
    """What a campaign tells of the operator in that folder."""
    with_it = f"env PYTHONPATH={shlex.quote(str(source))} "
    told = list[Result]()
    plan = Plan(
        start=with_it + OURS,
        start_leaders=with_it + OUR_LEADERS,
        only=lines,
        places=1,
        patience_seconds=patience_seconds,
    )
    await run_lines(arena, plan, told.append)
    return told


async def found(arena: Arena, mistake: Mistake, folder: Path) -> str:
    """In which words; empty if it was not."""
    try:
        with without_groups():
            results = await judged(arena, [mistake.line], copied(folder, mistake), HASTE_SECONDS)
    except LocalError as err:
        return str(err)
    return "; ".join(problem for each in results for problem in each.problems)


async def test_every_planted_mistake_is_found(arena: Arena, tmp_path: Path) -> None:
    room, words = asyncio.Semaphore(AT_A_TIME), dict[str, str]()

    async def look_for(number: int, mistake: Mistake) -> None:
        async with room:
            words[mistake.name] = await found(arena, mistake, tmp_path / str(number))
            print(f"{mistake.name}: {words[mistake.name] or 'NOT FOUND'}", file=sys.stderr)

    async with asyncio.TaskGroup() as group:
        for number, mistake in enumerate(MISTAKES):
            group.create_task(look_for(number, mistake), name=mistake.name)
    assert [name for name, said in words.items() if not said] == []


async def test_nothing_is_found_where_nothing_is_planted(arena: Arena) -> None:
    results = await judged(arena, [mistake.line for mistake in MISTAKES], SOURCE.parent, PATIENCE_SECONDS)
    assert [(each.line, each.problems) for each in results if each.outcome is Outcome.BROKEN] == []
    assert len(results) == len({mistake.line for mistake in MISTAKES})
