"""What do dashboards see of a gateway's agent? Levels when asked, and a count of every answer and every stamp."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Final

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.wake.decide.answers import DECISIONS
from firebolt_operator.wake.hold_times import LEFT
from firebolt_operator.wake.requester import StampResult

PREFIX: Final = "firebolt_gateway_wake_"
HOLD_SECONDS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)
OUTCOMES: Final = ("released", "timeout", "missing", "stopped", "unsynced", LEFT)
NOBODY: Final = ""
"""The label of names that are no engine's: clients make up as many of them as they like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Read when somebody scrapes."""

    pending_holds: Callable[[], Mapping[str, int]]  # by engine
    is_engine: Callable[[str], bool]  # whether a name is one, as far as is known
    hold_cap: Callable[[], int]
    demand_dropped: Callable[[], int]
    is_synced: Callable[[], bool]
    ready_engines: Callable[[], int]


class WakeMetrics:
    """An AnswerRecorder, a StampRecorder and a HoldRecorder."""

    def __init__(self, metrics: Metrics, levels: Levels) -> None:
        registry = metrics.registry
        answers = Counter(f"{PREFIX}answers", "Answers to Envoy", ("decision",), registry=registry)
        stamps = Counter(f"{PREFIX}stamps", "Wake requests written", ("result",), registry=registry)
        self._answers = {decision: answers.labels(decision) for decision in DECISIONS}
        self._stamps = {result: stamps.labels(result.value) for result in StampResult}
        self._left = Counter(f"{PREFIX}callers_left", "Holds whose caller hung up", registry=registry)
        self._shed: dict[str, int] = {}
        self._is_engine = levels.is_engine
        seconds = Histogram(
            f"{PREFIX}hold_seconds",
            "How long queries were held, by what became of them",
            ("outcome",),
            registry=registry,
            buckets=HOLD_SECONDS,
        )
        self._seconds = {outcome: seconds.labels(outcome) for outcome in OUTCOMES}
        self._latency = Histogram(
            f"{PREFIX}latency_seconds",
            "From the first query that waits for an engine until the engine can take it",
            registry=registry,
            buckets=HOLD_SECONDS,
        )
        metrics.before_scrape(_levels(metrics, levels, self._shed))

    def answered(self, decision: str, /) -> None:
        self._answers[decision].inc()

    def held(self, outcome: str, seconds: float, /) -> None:
        self._seconds[outcome].observe(seconds)

    def woken(self, seconds: float, /) -> None:
        self._latency.observe(seconds)

    def shed(self, engine: str, /) -> None:
        name = engine if self._is_engine(engine) else NOBODY
        self._shed[name] = self._shed.get(name, 0) + 1

    def caller_left(self) -> None:
        self._left.inc()

    def stamp(self, result: StampResult, /) -> None:
        self._stamps[result].inc()


def _levels(metrics: Metrics, levels: Levels, shed: dict[str, int]) -> Callable[[], None]:
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
        for engine in [name for name in shed if name and not levels.is_engine(name)]:
            del shed[engine]
        seen.shed, seen.dropped = dict(shed), levels.demand_dropped()
        seen.pending = by_engine(levels.pending_holds(), levels.is_engine)

    return refresh


def by_engine(counts: Mapping[str, int], is_engine: Callable[[str], bool]) -> dict[str, int]:
    """With one sum for all names that are no engine's."""
    told: dict[str, int] = {}
    for name, count in counts.items():
        label = name if is_engine(name) else NOBODY
        told[label] = told.get(label, 0) + count
    return told


class _Seen(Collector):
    """One series per engine that somebody waits for, and none for those that nobody does: names come from clients."""

    def __init__(self) -> None:
        self.pending: Mapping[str, int] = {}
        self.shed: Mapping[str, int] = {}
        self.dropped = 0

    def collect(self) -> Generator[Metric]:
        pending = GaugeMetricFamily(f"{PREFIX}pending_holds", "Queries held now", labels=("engine",))
        for engine, count in sorted(self.pending.items()):
            pending.add_metric((engine,), count)
        yield pending
        shed = CounterMetricFamily(f"{PREFIX}shed", "Queries refused for lack of room", labels=("engine",))
        for engine, count in sorted(self.shed.items()):
            shed.add_metric((engine,), count)
        yield shed
        yield CounterMetricFamily(f"{PREFIX}demand_dropped", "Wake requests beyond the limit", value=self.dropped)
