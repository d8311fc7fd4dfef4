"""What does `firebolt-local campaign` do? Flags, folders, what is printed; the rest is in the rooms beside it."""

import argparse
import asyncio
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firebolt_local.campaign import parts
from firebolt_local.campaign.edits.draw import ENOUGH
from firebolt_local.campaign.plan import PARTS, USUAL, Plan
from firebolt_local.campaign.report.comparison import compare
from firebolt_local.campaign.report.page import Told, page
from firebolt_local.campaign.report.results import Outcome, Result, ResultFile, read_results
from firebolt_local.cluster.folder import state_folder
from firebolt_local.errors import LocalError
from firebolt_local.images.operator_image import REFERENCE
from firebolt_local.testing.groups import without_groups
from firebolt_local.testing.installer import DRAIN_SETTLE

RESULTS: Final = "results.jsonl"
PAGE: Final = "report.html"
_OUR_WORDS: Final = (
    f"{shlex.quote(sys.executable)} -m firebolt_operator.main run"
    " --kubeconfig={kubeconfig} --namespaces={namespace} --health-probe-bind-address=0"
)
OURS: Final = f"{_OUR_WORDS} --drain-settle=0 --wake-agent-image=agent:1"
OURS_UNDER_LOAD: Final = f"{_OUR_WORDS} --drain-settle={DRAIN_SETTLE} --wake-agent-image={REFERENCE}"
"""Real gateways have a wake agent, and their cluster's DNS has a cache."""
OUR_LEADERS: Final = f"{OURS} --leader-elect --leader-elect-namespace={{namespace}}"


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    what = "judge an operator: every fault, every edit, and what became of it (docs/dev/campaign.md)"
    flags = verbs.add_parser("campaign", help=what, description=what)
    flags.add_argument("--start", default=OURS, metavar="COMMAND", help="starts the operator (default: this one)")
    flags.add_argument("--start-leaders", default=OUR_LEADERS, metavar="COMMAND", help="starts one of two that elect")
    flags.add_argument("--part", action="append", choices=PARTS, help="only these (default: all)")
    flags.add_argument("--chapter", action="append", help="only faults in these chapters of the story")
    flags.add_argument("--only", action="append", metavar="LINE", help="only this case, as a report prints it")
    flags.add_argument("--times", type=int, default=1, help="with --only: how often")
    flags.add_argument("--places", type=int, default=6, help="operators side by side (default: %(default)s)")
    flags.add_argument("--into", type=Path, default=state_folder() / "campaign", help="folder of results and report")
    flags.add_argument("--afresh", action="store_true", help="forget earlier results instead of going on from them")
    flags.add_argument("--against", type=Path, metavar="RESULTS", help="results of an earlier campaign, to compare")
    flags.add_argument("--edits", type=int, default=ENOUGH, help="how many edits are drawn (default: %(default)s)")
    flags.add_argument("--minutes", type=float, default=0, help="with --part load: random faults for so long, as well")
    flags.add_argument("--seed", type=int, default=1, help="of what is drawn (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """0 if nothing broke."""
    plan = _plan(options)
    plan.check()
    into: Path = options.into
    into.mkdir(parents=True, exist_ok=True)
    if options.afresh:
        (into / RESULTS).unlink(missing_ok=True)
    before = read_results(options.against) if options.against else None
    if options.against and not before:
        raise LocalError(f"{options.against} has no results; give the {RESULTS} of an earlier campaign")
    ledger = _Teller(ResultFile(into / RESULTS, read_results(into / RESULTS)))
    began_at = time.monotonic()
    try:
        with without_groups():
            asyncio.run(parts.run(plan, into / f"cluster-{os.getpid()}", ledger.file.known, ledger.tell))
    finally:
        ledger.file.close()
        told = Told(options.start, time.monotonic() - began_at, _repeat(options.start))
        changes = None if before is None else compare(ledger.file.known, before)
        (into / PAGE).write_text(page(ledger.file.known, told, changes), encoding="utf-8")
    return summary(ledger.told if options.only else list(ledger.file.known.values()), into / PAGE)


@dataclass(slots=True)
class _Teller:
    file: ResultFile
    told: list[Result] = field(default_factory=list[Result])

    def tell(self, result: Result) -> None:
        self.told.append(result)
        self.file.add(result)
        words = f"{len(self.told):5} {result.outcome:11} {result.seconds:5.1f} s  {result.line}"
        print("\n".join([words, *(f"        {problem}" for problem in result.problems)]), flush=True)


def _plan(options: argparse.Namespace) -> Plan:
    return Plan(
        start=options.start,
        start_leaders=options.start_leaders,
        start_under_load=OURS_UNDER_LOAD if options.start == OURS else options.start,
        parts=tuple(options.part or USUAL),
        chapters=tuple(options.chapter or ()),
        only=tuple(_repeated(options.only or (), options.times)),
        places=options.places,
        edits=options.edits,
        seed=options.seed,
        anything_seconds=options.minutes * 60,
    )


def _repeated(lines: Sequence[str], times: int) -> list[str]:
    return [line for line in lines for _ in range(times)]


def _repeat(start: str) -> str:
    own = "" if start == OURS else f" --start {shlex.quote(start)}"
    return f"firebolt-local campaign{own} --only"


def summary(results: Sequence[Result], report: Path) -> int:
    """The exit code. What was asked for more than once says how often it broke."""
    broken = [each for each in results if each.outcome is Outcome.BROKEN]
    for line, times in Counter(each.line for each in results).items():
        if times > 1:
            print(f"broken {sum(each.line == line for each in broken)} of {times}: {line}")
    print(f"{len(results)} cases, {len(broken)} broken: {report}")
    return 1 if broken else 0
