"""How did the queries of a test fare, and how long did an old generation go on getting some?"""

from collections.abc import Sequence
from dataclasses import dataclass

from kubectl_firebolt.picture.answers import Answer, generation_of_pod, totals
from tests.e2e.informer import Switch

LEAST_SHARE = 5 / 6  # of the queries that were due, as they were due
LATEST_SECONDS = 10.0  # after a switch, for the last query of the old generation


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    test: str
    engine: str
    seconds: float  # for how long queries were sent
    answers: tuple[Answer, ...]
    cut_over: float | None  # seconds from a switch to the old generation's last query; None without a switch

    @property
    def per_second(self) -> float:
        return len(self.answers) / self.seconds

    @property
    def problems(self) -> list[str]:
        """With the second in which each began."""
        first = min(answer.due_at for answer in self.answers)
        return [f"{answer.due_at - first:.1f} s: {answer.problem}" for answer in self.answers if not answer.is_good]

    def __str__(self) -> str:
        found = totals(self.answers)
        cut_over = "" if self.cut_over is None else f", last query of an old generation {self.cut_over:+.1f} s"
        return (
            f"{self.test} ({self.engine}): sent {found.queries}, ok {found.queries - found.failed},"
            f" failed {found.failed}, {self.per_second:.0f}/s, p50 {found.p50 * 1000:.0f} ms,"
            f" p99 {found.p99 * 1000:.0f} ms, longest {found.longest * 1000:.0f} ms{cut_over}"
        )


def cut_over(answers: Sequence[Answer], switches: Sequence[Switch]) -> float | None:
    """How long after a switch, at most, did a query start that an older generation answered?

    Negative if all of them had started before.
    """
    lags = [
        answer.due_at - switch.at
        for switch in switches
        for answer in answers
        if (generation := generation_of_pod(answer.pod)) is not None and generation < switch.generation
    ]
    return max(lags, default=None)
