"""What do dashboards see of a gateway's agent? Levels when asked, and a count of every answer and every stamp."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.wake.decide.answers import DECISIONS
from firebolt_operator.wake.requester import StampResult

PREFIX: Final = "firebolt_gateway_wake_"
HOLD_SECONDS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 90.0, 120.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Read when somebody scrapes."""

    pending_holds: Callable[[], Mapping[str, int]]  # by engine
    hold_cap: Callable[[], int]
    demand_dropped: Callable[[], int]
    is_synced: Callable[[], bool]
    ready_engines: Callable[[], int]


class WakeMetrics:
    """An AnswerRecorder and a StampRecorder."""

    def __init__(self, metrics: Metrics, levels: Levels) -> None:
        registry = metrics.registry
        answers = Counter(f"{PREFIX}answers", "Answers to Envoy", ("decision",), registry=registry)
        stamps = Counter(f"{PREFIX}stamps", "Wake requests written", ("result",), registry=registry)
        self._answers = {decision: answers.labels(decision) for decision in DECISIONS}
        self._stamps = {result: stamps.labels(result.value) for result in StampResult}
        self._left = Counter(f"{PREFIX}callers_left", "Holds whose caller hung up", registry=registry)
        self._seconds = Histogram(
            f"{PREFIX}hold_seconds", "Length of answered holds", registry=registry, buckets=HOLD_SECONDS
        )
        metrics.before_scrape(_levels(metrics, levels))

    def answered(self, decision: str, seconds: float, /) -> None:
        self._answers[decision].inc()
        if decision in {"released", "timeout"}:
            self._seconds.observe(seconds)

    def caller_left(self) -> None:
        self._left.inc()

    def stamp(self, result: StampResult, /) -> None:
        self._stamps[result].inc()


def _levels(metrics: Metrics, levels: Levels) -> Callable[[], None]:
    registry = metrics.registry
    cap = Gauge(f"{PREFIX}hold_cap", "Holds that fit; negative for any number", registry=registry)
    synced = Gauge(f"{PREFIX}synced", "1 once endpoints are known", registry=registry)
    ready = Gauge(f"{PREFIX}ready_engines", "Engines that queries can go to", registry=registry)
    seen = _Seen()
    registry.register(seen)

    def refresh() -> None:
        cap.set(levels.hold_cap())
        synced.set(1 if levels.is_synced() else 0)
        ready.set(levels.ready_engines())
        seen.pending, seen.dropped = dict(levels.pending_holds()), levels.demand_dropped()

    return refresh


class _Seen(Collector):
    """One series per engine that somebody waits for, and none for those that nobody does: names come from clients."""

    def __init__(self) -> None:
        self.pending: Mapping[str, int] = {}
        self.dropped = 0

    def collect(self) -> Generator[Metric]:
        pending = GaugeMetricFamily(f"{PREFIX}pending_holds", "Queries held now", labels=("engine",))
        for engine, count in sorted(self.pending.items()):
            pending.add_metric((engine,), count)
        yield pending
        yield CounterMetricFamily(f"{PREFIX}demand_dropped", "Wake requests beyond the limit", value=self.dropped)
