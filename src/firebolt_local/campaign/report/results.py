"""What became of each case, one line of a file each: a campaign that is cut short goes on where it was."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TextIO

import msgspec


class Outcome(StrEnum):
    GOOD = "good"
    BROKEN = "broken"
    NOT_REACHED = "not reached"  # this run came to its end without the request that was to be struck


class Result(msgspec.Struct, frozen=True, kw_only=True):
    part: str  # of the campaign: faults, events, edits, leaders, load
    line: str  # says the case once more
    outcome: Outcome
    problems: tuple[str, ...] = ()
    seconds: float = 0.0
    shown: str = ""  # "3 of 3": how often it was seen when it was tried again
    counts: dict[str, int] = {}  # what else was counted

    @property
    def kind(self) -> str:
        """Under which it is counted."""
        return self.line.partition(": ")[2].partition(" ")[0] if self.part in {"faults", "events"} else self.part


@dataclass(slots=True)
class ResultFile:
    path: Path
    known: dict[str, Result] = field(default_factory=dict[str, Result])
    _open: TextIO | None = None

    def add(self, result: Result) -> None:
        self.known[result.line] = result
        if self._open is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._open = self.path.open("a", encoding="utf-8", buffering=1)
        self._open.write(msgspec.json.encode(result).decode() + "\n")

    def close(self) -> None:
        if self._open is not None:
            self._open.close()


def read_results(path: Path) -> dict[str, Result]:
    """The last word on each case; a line that was cut short is left out."""
    found: dict[str, Result] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                result = msgspec.json.decode(line, type=Result)
            except msgspec.DecodeError:
                continue
            found[result.line] = result
    return found


def totals(results: Iterable[Result]) -> Counter[str]:
    """What was done in all."""
    found: Counter[str] = Counter()
    for each in results:
        found.update(each.counts)
        found["end states compared"] += each.part in {"faults", "events", "leaders"}
    return found


def counted(results: Iterable[Result]) -> dict[tuple[str, str], Counter[Outcome]]:
    """By part and kind."""
    counts: dict[tuple[str, str], Counter[Outcome]] = {}
    for each in results:
        counts.setdefault((each.part, each.kind), Counter())[each.outcome] += 1
    return counts
