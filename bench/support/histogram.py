"""A histogram that a server keeps of itself: what was added to it between two readings, and its quantiles."""

from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many values were at most so large, by that bound; the last bound is infinite."""

    at_most: Mapping[float, float]

    def __sub__(self, earlier: "Histogram") -> "Histogram":
        return Histogram({bound: count - earlier.at_most.get(bound, 0.0) for bound, count in self.at_most.items()})

    @property
    def count(self) -> float:
        return max(self.at_most.values(), default=0.0)

    def quantile(self, share: float) -> float:
        """Interpolated within its bucket, as Prometheus does."""
        wanted, low, below = share * self.count, 0.0, 0.0
        for bound, count in sorted(self.at_most.items()):
            if count >= wanted and count > below:
                return low if bound == float("inf") else low + (bound - low) * (wanted - below) / (count - below)
            low, below = bound, count
        return float("nan")


def histogram(metrics: str, name: str, labels: Mapping[str, str]) -> Histogram:
    """Summed over all series that have these labels."""
    at_most: dict[float, float] = {}
    for family in text_string_to_metric_families(metrics):
        if family.name != name:
            continue
        for sample in family.samples:
            if sample.name == f"{name}_bucket" and labels.items() <= sample.labels.items():
                bound = float(sample.labels["le"])
                at_most[bound] = at_most.get(bound, 0.0) + sample.value
    return Histogram(at_most)
