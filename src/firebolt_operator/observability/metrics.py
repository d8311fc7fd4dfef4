"""What do dashboards see of the machinery? One registry; everyone gets a recorder with its labels bound beforehand."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final, cast

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from firebolt_operator.observability.events import LIMITED, REFUSED

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
REQUEST_SECONDS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)  # few: they count once for each verb, kind and code
LAG_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics:
    """Families that several owners share; recorders bind their labels once, since every look-up costs a lock."""

    def __init__(self) -> None:
        cast("Callable[[], None]", disable_created_metrics)()  # it would double the number of series
        self.registry = CollectorRegistry()
        self._refreshers: list[Callable[[], None]] = []
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def before_scrape(self, refresh: Callable[[], None]) -> None:
        """Levels are read when someone asks, not on every change."""
        self._refreshers.append(refresh)

    async def render(self) -> bytes:
        for refresh in self._refreshers:
            refresh()
        # Thousands of series take tens of milliseconds, which the loop does not have.
        return await asyncio.to_thread(generate_latest, self.registry)


class RequestMetrics:
    """A RequestRecorder: which requests go to the API server."""

    def __init__(self, metrics: Metrics, host: str) -> None:
        registry = metrics.registry
        self._host = host
        self._totals = Counter(
            "rest_client_requests", "Requests to the API server", ("code", "method", "host"), registry=registry
        )
        self._seconds = Histogram(
            "firebolt_operator_request_duration_seconds",
            "Time from a request to the API server to its answer; of a watch, to its beginning",
            ("verb", "resource", "code"),
            registry=registry,
            buckets=REQUEST_SECONDS,
        )
        self._bound_totals: dict[tuple[str, str], Counter] = {}
        self._bound_seconds: dict[tuple[str, str, str], Histogram] = {}

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        total = self._bound_totals.get((code, method))
        if total is None:
            total = self._bound_totals[code, method] = self._totals.labels(code, method, self._host)
        total.inc()
        duration = self._bound_seconds.get((verb, resource, code))
        if duration is None:
            duration = self._bound_seconds[verb, resource, code] = self._seconds.labels(verb, resource, code)
        duration.observe(seconds)


class EventMetrics:
    """An EventCounter: a lost event fails nothing, so that only a number can tell of it."""

    def __init__(self, metrics: Metrics) -> None:
        self._lost = Counter(
            "firebolt_operator_events_lost",
            "Events that were not sent, because there were too many of a namespace or the API server refused them",
            ("controller", "why"),
            registry=metrics.registry,
        )

    def expect(self, controllers: Iterable[str]) -> None:
        """From zero on: of a series that begins with its first loss nobody can tell that it grew."""
        for controller in controllers:
            for why in (LIMITED, REFUSED):
                self._lost.labels(controller, why)

    def event_lost(self, controller: str, why: str, /) -> None:
        self._lost.labels(controller, why).inc()


class LeaderMetrics:
    """A LeaderRecorder."""

    def __init__(self, metrics: Metrics, lease: str) -> None:
        registry = metrics.registry
        status = Gauge("leader_election_master_status", "1 while this process leads", ("name",), registry=registry)
        slow = Counter("leader_election_slowpath", "Renewals that met a conflict", ("name",), registry=registry)
        self._status = status.labels(lease)
        self._slow = slow.labels(lease)

    def leading(self, is_leader: bool, /) -> None:
        self._status.set(1 if is_leader else 0)

    def slow_path(self) -> None:
        self._slow.inc()


class LoopMetrics:
    """How late does what is due run? Whoever blocks the event loop makes everybody else wait."""

    def __init__(self, metrics: Metrics) -> None:
        self._lag = Histogram(
            "firebolt_operator_event_loop_lag_seconds",
            "How late a timer of the event loop ran",
            registry=metrics.registry,
            buckets=LAG_SECONDS,
        )

    def lagged(self, seconds: float, /) -> None:
        self._lag.observe(seconds)
