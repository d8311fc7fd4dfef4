"""Which faults are tried, given what passed when nothing went wrong? Every one, with every request that it can meet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.faults.fault import Fault, Harm, fault, is_possible, parse_fault
from firebolt_local.campaign.faults.requests import BOOKMARK, BY_THE_CLOCK, RequestName
from firebolt_local.errors import LocalError

OF_WRITES: Final = (
    Harm.KILL_AFTER,
    Harm.CUT_AFTER,
    Harm.KILL_BEFORE,
    Harm.REFUSE,
    Harm.CONFLICT,
    Harm.ERROR,
    Harm.UNAVAILABLE,
    Harm.BUSY,
    Harm.CUT_BEFORE,
    Harm.DELAY,
)
LATE_SECONDS: Final = (1.0, 5.0, 30.0)
OF_EVENTS: Final = (Harm.CUT, Harm.EXPIRE, Harm.REPLAY, Harm.STALE)
QUICK: Final = (Harm.KILL_AFTER, Harm.CUT_AFTER)
BASIC: Final = (*QUICK, Harm.KILL_BEFORE, Harm.REFUSE)
"""Done or not done, and known or not known to somebody: all others are like one of these."""


@dataclass(frozen=True, slots=True, order=True)
class Case:
    """One run; its line says all of it."""

    chapter: str
    fault: Fault

    def __str__(self) -> str:
        return f"{self.chapter}: {self.fault}"


def parse_case(line: str) -> Case:
    chapter, colon, rest = line.partition(":")
    if not colon:
        raise LocalError(f"{line!r} is no case; write for example 'scale: cut-after patch statefulsets 1'")
    return Case(chapter.strip(), parse_fault(rest))


def cases_of_writes(chapter: str, passed: Iterable[RequestName], harms: Sequence[Harm] = OF_WRITES) -> list[Case]:
    """Sorted by harm: what costs most when it is handled wrongly is tried first."""
    names = [name for name in passed if name.of.is_mutating and name.of.kind not in BY_THE_CLOCK]
    return [Case(chapter, fault(harm, name)) for harm in harms for name in sorted(names) if is_possible(harm, name.of)]


def cases_of_events(chapter: str, passed: Iterable[RequestName], late: Sequence[float] = LATE_SECONDS) -> list[Case]:
    names = sorted(name for name in passed if name.of.verb == "watch" and not name.of.kind.endswith(BOOKMARK))
    delayed = [Case(chapter, fault(Harm.LATE, name, seconds)) for seconds in late for name in names]
    # What becomes of the watch itself is the same whichever event it happens at.
    firsts = [name for name in names if name.nth == 1]
    return [Case(chapter, fault(harm, name)) for harm in OF_EVENTS for name in firsts] + delayed
