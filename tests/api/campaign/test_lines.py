"""Does a line do what it says, to a real operator on a real API server, and does the answer tell what came of it?"""

from firebolt_local.campaign.command import OUR_LEADERS, OURS
from firebolt_local.campaign.parts import run_lines
from firebolt_local.campaign.plan import Plan
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.campaign.stories.arena import Arena


async def test_a_line_is_run_and_judged(arena: Arena) -> None:
    lost, never = "create: cut-after patch statefulsets 1", "create: 500 patch statefulsets 99"
    edits = "edits: FireboltEngine spec.drainTimeout legal; FireboltEngine spec.replicas illegal"
    told = list[Result]()
    plan = Plan(start=OURS, start_leaders=OUR_LEADERS, only=(lost, never, edits), places=1)
    await run_lines(arena, plan, told.append)
    assert {each.line: (each.outcome, each.problems) for each in told} == {
        lost: (Outcome.GOOD, ()),
        never: (Outcome.NOT_REACHED, ()),
        edits: (Outcome.GOOD, ()),
    }
    assert told[-1].counts == {
        "edits": 2,
        "converged": 1,
        "refused with a reason": 1,
        "undone": 1,
        "compared with a fresh one": 1,
    }
