"""What is a run compared with, and what is said of it?"""

from collections import Counter
from dataclasses import dataclass

from firebolt_local.campaign.faults.requests import RequestName
from firebolt_local.campaign.judge.comparison import differences
from firebolt_local.campaign.judge.normal import Picture


@dataclass(frozen=True, slots=True)
class Reference:
    """How a chapter ends when nothing goes wrong."""

    picture: Picture
    noise: frozenset[str]  # paths in which even two such runs differ
    made: Counter[str]
    passed: tuple[RequestName, ...]

    def problems(self, found: Picture) -> list[str]:
        return [str(each) for each in differences(found, self.picture, self.noise)]


def reference_of(first: Reference, second: Reference) -> Reference:
    """Two runs without a fault: what differs between them is nobody's fault."""
    noise = frozenset(each.path for each in differences(second.picture, first.picture))
    return Reference(first.picture, noise, first.made | second.made, first.passed)
