"""One target, many inputs: what came of them, how long it took, and what it failed on."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fuzz.target import Target
from tests.support.growth import steepest_growth

MOST_FAILURES: Final = 5  # of one target; the first says most
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
"""A fuzzer that never gets past the first check, or never meets it, looks at half of a parser."""
SHOWN: Final = 200  # characters


@dataclass(frozen=True, slots=True)
class Failure:
    given: Any
    error: Exception

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {str(self.error)[:SHOWN]}\n    on {repr(self.given)[:SHOWN]}"


@dataclass(slots=True)
class Report:
    target: str
    inputs: int = 0
    accepted: int = 0
    outcomes: set[int] = field(default_factory=set[int])
    failures: list[Failure] = field(default_factory=list[Failure])
    failed: int = 0
    cpu_seconds: float = 0.0
    growth: float | None = None  # None: not measured

    @property
    def accepted_share(self) -> float:
        return self.accepted / self.inputs if self.inputs else 0.0

    @property
    def is_one_sided(self) -> bool:
        return not LEAST_SHARE <= self.accepted_share <= MOST_SHARE


def fuzz(target: Target, count: int, *, seed: int) -> Report:
    """The findings of old first, then so many new inputs."""
    report = Report(target.name)
    for given in _inputs(target, count, seed):
        began_at = time.thread_time()
        _try(target, given, report)
        report.cpu_seconds += time.thread_time() - began_at
        report.inputs += 1
        if len(report.failures) >= MOST_FAILURES:
            break
    return report


def _inputs(target: Target, count: int, seed: int) -> Iterator[Any]:
    yield from target.findings
    rng = random.Random(f"{target.name} {seed}")
    for _ in range(count):
        yield target.make(rng)


def _try(target: Target, given: Any, report: Report) -> None:
    try:
        outcome = target.read(given)
    except target.refusals as err:
        report.outcomes.add(hash((type(err), str(err))))
    except Exception as err:  # noqa: BLE001 - whatever else is raised is what is looked for
        report.failures.append(Failure(given, err))
        report.failed += 1
    else:
        report.accepted += target.is_accepted(outcome)
        report.outcomes.add(hash(repr(outcome)))


def measure_growth(target: Target, report: Report) -> None:
    """Long inputs are inputs too: what they raise is kept as well."""

    def read(given: Any) -> None:
        try:
            target.read(given)
        except target.refusals:
            return
        except Exception as err:  # noqa: BLE001 - as above
            report.failures.append(Failure(given, err))
            report.failed += 1

    report.growth = steepest_growth(read, target.shapes, ())
