"""The table at the end: what was measured, beside what it should be and what a plain client needs for the same."""

import math
from collections.abc import Sequence

import msgspec


def percentile(ordered: Sequence[float], share: float) -> float:
    """Of values in ascending order; the smallest one that so large a share does not exceed."""
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    measured: float
    target: float | None  # None: told for comparison only. Of rows with a floor: how many floors
    unit: str = ""
    floor: float | None = None  # what the plain client needed, in the same unit

    @property
    def judged(self) -> float:
        return self.measured if self.floor is None else self.measured / self.floor

    def __str__(self) -> str:
        beside = "" if self.floor is None else f"{self.floor:9.2f} {self.unit:<5} {self.judged:5.2f}"
        wanted = "" if self.target is None else f"<= {self.target:<7g}"
        return f"  {self.what:<52} {self.measured:>10.2f} {self.unit:<5} {beside:<21} {wanted:<10} {self._verdict}"

    @property
    def _verdict(self) -> str:
        if self.target is None:
            return ""
        return "ok" if self.judged <= self.target else "MISSED"


class Report(msgspec.Struct):
    rows: list[Row] = msgspec.field(default_factory=list[Row])

    def add(
        self, what: str, measured: float, target: float | None, unit: str = "", *, floor: float | None = None
    ) -> None:
        if not math.isnan(measured):
            self.rows.append(Row(what=what, measured=measured, target=target, unit=unit, floor=floor))

    def show(self) -> None:
        if any(row.floor is not None for row in self.rows):
            print(f"\n  {'':<52} {'ours':>10} {'':<5} {'plain client, ratio':<21} should be", end="")
        print("\n" + "\n".join(map(str, self.rows)))
