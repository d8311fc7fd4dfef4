"""The table at the end: what was measured, beside what it should be."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


def percentile(ordered: Sequence[float], share: float) -> float:
    """Of values in ascending order; the smallest one that so large a share does not exceed."""
    if not ordered:
        return float("nan")
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    measured: float
    target: float
    unit: str = ""

    def __str__(self) -> str:
        verdict = "ok" if self.measured <= self.target else "MISSED"
        return f"  {self.what:<52} {self.measured:>9.2f} {self.unit:<4} <= {self.target:<8g} {verdict}"


@dataclass(slots=True)
class Report:
    rows: list[Row] = field(default_factory=list[Row])

    def add(self, what: str, measured: float, target: float, unit: str = "") -> None:
        if not math.isnan(measured):
            self.rows.append(Row(what, measured, target, unit))

    def show(self) -> None:
        print("\n" + "\n".join(map(str, self.rows)))
