"""Who works off chains of edits, and which is the shortest line that shows what was found?"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from firebolt_local.campaign.edits.draw import Chain, chain_line
from firebolt_local.campaign.edits.runs import run_chain
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.campaign.stories.crew import Crew, Worker
from firebolt_local.campaign.stories.runs import BrokenPlaceError

PART = "edits"


@dataclass(frozen=True, slots=True)
class _Judged:
    problems: tuple[str, ...]
    counts: Mapping[str, int]


async def work_off_chains(
    crew: Crew, chains: Sequence[Chain], known: Mapping[str, Result], tell: Callable[[Result], None]
) -> None:
    waiting = [chain for chain in chains if chain_line(chain) not in known]

    async def work(worker: Worker) -> None:
        while waiting:
            tell(await _result(worker, waiting.pop(0)))

    await crew.share(work)


async def _result(worker: Worker, chain: Chain) -> Result:
    clock = asyncio.get_running_loop().time
    began_at = clock()
    judged = await _judged(worker, chain)
    problems, shown = judged.problems, ""
    if problems:
        alone = [(edit, await _judged(worker, (edit,))) for edit in chain] if len(chain) > 1 else []
        guilty = [f"alone: {chain_line((edit,))}" for edit, found in alone if found.problems]
        shown = "2 of 2" if guilty or (await _judged(worker, chain)).problems else "1 of 2"
        problems = (*problems, *guilty)
    return Result(
        part=PART,
        line=chain_line(chain),
        outcome=Outcome.BROKEN if problems else Outcome.GOOD,
        problems=problems,
        seconds=round(clock() - began_at, 1),
        shown=shown,
        counts={"edits": len(chain), **judged.counts},
    )


async def _judged(worker: Worker, chain: Chain) -> _Judged:
    try:
        run = await run_chain(await worker.place(), chain)
    except BrokenPlaceError as err:
        await worker.leave()
        return _Judged((str(err),), {})
    if run.problems:
        await worker.leave()
    return _Judged(tuple(run.problems), run.counts)
