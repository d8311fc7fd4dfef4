"""What is asked of a campaign, and can it be run at all?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.campaign.edits.draw import EDITS_LINE, ENOUGH, Chain, edit_lines
from firebolt_local.campaign.edits.edit import parse_edit
from firebolt_local.campaign.faults.cases import Case, parse_case
from firebolt_local.campaign.load.turns import LOAD_LINE, Asked, parse_asked
from firebolt_local.campaign.stories.chapters import CHAPTERS, Chapter, chapter
from firebolt_local.campaign.stories.operator_process import command_line
from firebolt_local.campaign.stories.place import PATIENCE_SECONDS

QUICK_PART: Final = "quick"
FAULTS: Final = "faults"
EVENTS: Final = "events"
EDITS: Final = "edits"
LEADERS: Final = "leaders"
USUAL: Final = (FAULTS, LEADERS, EDITS, EVENTS)
LOAD: Final = "load"
PARTS: Final = (QUICK_PART, *USUAL, LOAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    start: str
    start_leaders: str  # one of two that elect a leader
    start_under_load: str = ""  # one for real pods
    parts: Sequence[str] = USUAL
    chapters: Sequence[str] = ()  # empty: all
    only: Sequence[str] = ()  # lines of cases; empty: what the parts consist of
    places: int
    edits: int = ENOUGH
    seed: int = 1
    patience_seconds: float = PATIENCE_SECONDS
    anything_seconds: float = 0.0  # of random faults under load

    def stories(self) -> list[Chapter]:
        return list(map(chapter, self.chapters)) if self.chapters else list(CHAPTERS)

    def needs_certificates(self) -> bool:
        """Whether somebody has to issue them."""
        if self.only:
            return any(chapter(case.chapter).needs_certificates for case in self.cases())
        is_told = bool({FAULTS, EVENTS} & {*self.parts})
        return is_told and any(story.needs_certificates for story in self.stories())

    def cases(self) -> list[Case]:
        """Of `only`."""
        return [parse_case(line) for line in self.only if not line.startswith((EDITS_LINE, LOAD_LINE))]

    def chains(self) -> list[Chain]:
        """The same."""
        return [tuple(map(parse_edit, edit_lines(line))) for line in self.only if line.startswith(EDITS_LINE)]

    def under_load(self) -> Asked | None:
        """The same, or everything; None: nothing."""
        if self.only:
            lines = [line for line in self.only if line.startswith(LOAD_LINE)]
            return parse_asked(lines) if lines else None
        return Asked(seconds=self.anything_seconds, seed=self.seed) if LOAD in self.parts else None

    def is_simulated(self) -> bool:
        """Whether something is left for simulated pods."""
        return bool(self.cases() or self.chains()) if self.only else tuple(self.parts) != (LOAD,)

    def check(self) -> None:
        """Says what nobody can run, before anything is started."""
        self.under_load()
        self.stories()
        self.chains()
        for case in self.cases():
            chapter(case.chapter)
        for start in (self.start, self.start_leaders):
            command_line(start, kubeconfig=Path(), namespace="")
