"""What is different from the campaign before?"""

from collections.abc import Mapping
from dataclasses import dataclass

from firebolt_local.campaign.report.results import Outcome, Result


@dataclass(frozen=True, slots=True)
class Changes:
    newly_broken: tuple[str, ...]
    mended: tuple[str, ...]
    tried_before: int
    tried_now: int


def compare(now: Mapping[str, Result], before: Mapping[str, Result]) -> Changes:
    broken_now, broken_before = _broken(now), _broken(before)
    return Changes(
        newly_broken=tuple(sorted(broken_now - broken_before)),
        # What was not tried this time is not known to be mended.
        mended=tuple(sorted((broken_before - broken_now) & now.keys())),
        tried_before=len(before),
        tried_now=len(now),
    )


def _broken(results: Mapping[str, Result]) -> set[str]:
    return {line for line, result in results.items() if result.outcome is Outcome.BROKEN}
