"""What became of queries, one by one, second by second and as a whole?"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_GENERATION = re.compile(r"-g(\d+)-\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    due_at: float  # seconds on the clock of whoever asked
    seconds: float  # until the last byte
    status: int  # 0 if there was none
    pod: str = ""  # empty: the answer does not tell
    problem: str = ""  # empty for a complete answer with status 200

    @property
    def is_good(self) -> bool:
        return not self.problem

    @property
    def ended_at(self) -> float:
        return self.due_at + self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    at: int  # the second begins here
    by_group: dict[str, int]  # answered, by what the caller groups them by
    failed: int
    p50: float | None  # seconds; None if nothing was answered well
    p99: float | None

    @property
    def answered(self) -> int:
        return sum(self.by_group.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    queries: int
    failed: int
    p50: float
    p99: float
    longest: float

    def __str__(self) -> str:
        return (
            f"{self.queries:,} queries, {self.failed:,} failed,"
            f" p50 {spoken(self.p50)}, p99 {spoken(self.p99)}, longest {spoken(self.longest)}"
        )


def spoken(seconds: float) -> str:
    """As people say it: never finer than they can use, never a number of four digits."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def totals(answers: Sequence[Answer]) -> Totals:
    good = [answer.seconds for answer in answers if answer.is_good] or [0.0]
    return Totals(
        queries=len(answers),
        failed=sum(not answer.is_good for answer in answers),
        p50=percentile(good, 0.50),
        p99=percentile(good, 0.99),
        longest=max(good),
    )


def by_second(answers: Iterable[Answer], group: Callable[[Answer], str]) -> list[Second]:
    """Each answer counts in the second in which it ended. Seconds without an answer are left out."""
    ended: defaultdict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        ended[math.floor(answer.ended_at)].append(answer)
    return [_second(at, ended[at], group) for at in sorted(ended)]


def _second(at: int, answers: Sequence[Answer], group: Callable[[Answer], str]) -> Second:
    good = [answer for answer in answers if answer.is_good]
    seconds = [answer.seconds for answer in good]
    return Second(
        at=at,
        by_group=dict(Counter(map(group, good))),
        failed=len(answers) - len(good),
        p50=percentile(seconds, 0.50) if seconds else None,
        p99=percentile(seconds, 0.99) if seconds else None,
    )


def generation_of_pod(name: str) -> int | None:
    """The pods of a StatefulSet are called after it, and it after its generation."""
    found = _GENERATION.search(name)
    return int(found[1]) if found else None
