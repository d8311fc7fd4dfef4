"""What do dashboards see of the machinery? One registry; everyone gets a recorder with its labels bound beforehand."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol, cast

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    Summary,
    disable_created_metrics,
    generate_latest,
)

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class CacheState(Protocol):
    @property
    def broken_total(self) -> int: ...
    @property
    def broken(self) -> frozenset[tuple[str, str]]: ...
    def __len__(self) -> int: ...


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


class CacheMetrics:
    """How much is cached, and how old is what we know?"""

    def __init__(self, metrics: Metrics) -> None:
        registry, labels = metrics.registry, ("resource",)
        self._metrics = metrics
        self.objects = Gauge("firebolt_operator_cache_objects", "Objects cached", labels, registry=registry)
        self.broken = Gauge(
            "firebolt_operator_cache_broken_objects", "Objects that cannot be decoded", labels, registry=registry
        )
        self.set_aside = Counter(
            "firebolt_operator_objects_set_aside", "Times that an object was set aside", labels, registry=registry
        )
        self.staleness = Gauge(
            "firebolt_operator_watch_staleness_seconds", "Time since a watch was heard of", labels, registry=registry
        )

        self.refused = Gauge(
            "firebolt_operator_list_refused",
            "1 while the API server refuses to list what a namespace has",
            ("resource", "namespace"),
            registry=registry,
        )
        self._put_off = Counter(
            "firebolt_operator_passes_put_off",
            "Passes put off because their namespace cannot be read",
            ("namespace",),
            registry=registry,
        )

    def pass_put_off(self, namespace: str) -> None:
        self._put_off.labels(namespace).inc()

    def shows_refused(self, resource: str, refused_parts: Callable[[], Mapping[str, bool]]) -> None:
        def refresh() -> None:
            for namespace, is_refused in refused_parts().items():
                self.refused.labels(resource, namespace).set(1 if is_refused else 0)

        self._metrics.before_scrape(refresh)

    def shows(self, resource: str, cache: CacheState, staleness: Callable[[], float]) -> None:
        objects, broken = self.objects.labels(resource), self.broken.labels(resource)
        age, set_aside = self.staleness.labels(resource), self.set_aside.labels(resource)
        told = 0

        def refresh() -> None:
            nonlocal told
            objects.set(len(cache))
            broken.set(len(cache.broken))
            set_aside.inc(cache.broken_total - told)
            told = cache.broken_total
            age.set(staleness())

        self._metrics.before_scrape(refresh)


class RequestMetrics:
    """A RequestRecorder: which requests go to the API server."""

    def __init__(self, metrics: Metrics, host: str) -> None:
        registry = metrics.registry
        self._host = host
        self._totals = Counter(
            "rest_client_requests", "Requests to the API server", ("code", "method", "host"), registry=registry
        )
        self._seconds = Summary(
            "firebolt_operator_request_duration_seconds",
            "Time to the answer",
            ("method", "resource"),
            registry=registry,
        )
        self._bound_totals: dict[tuple[str, str], Counter] = {}
        self._bound_seconds: dict[tuple[str, str], Summary] = {}

    def request(self, method: str, code: str, seconds: float, resource: str, /) -> None:
        total = self._bound_totals.get((code, method))
        if total is None:
            total = self._bound_totals[code, method] = self._totals.labels(code, method, self._host)
        total.inc()
        duration = self._bound_seconds.get((method, resource))
        if duration is None:
            duration = self._bound_seconds[method, resource] = self._seconds.labels(method, resource)
        duration.observe(seconds)


class EventMetrics:
    """An EventCounter: a lost event fails nothing, so that only a number can tell of it."""

    def __init__(self, metrics: Metrics) -> None:
        self._lost = Counter(
            "firebolt_operator_events_lost", "Events that could not be sent", ("controller",), registry=metrics.registry
        )

    def event_lost(self, controller: str, /) -> None:
        self._lost.labels(controller).inc()


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


class CertificateMetrics:
    """A CertificateRecorder."""

    def __init__(self, metrics: Metrics) -> None:
        registry = metrics.registry
        self._reads = Counter("certwatcher_read_certificate", "Certificates read", registry=registry)
        self._errors = Counter("certwatcher_read_certificate_errors", "Certificates not read", registry=registry)

    def certificate_read(self) -> None:
        self._reads.inc()

    def certificate_failed(self) -> None:
        self._errors.inc()


class WebhookMetrics:
    """Admission requests, by webhook path."""

    def __init__(self, metrics: Metrics) -> None:
        registry, prefix = metrics.registry, "controller_runtime_webhook_"
        self._totals = Counter(f"{prefix}requests", "Requests by code", ("webhook", "code"), registry=registry)
        self._seconds = Histogram(
            f"{prefix}latency_seconds", "Time to the answer", ("webhook",), registry=registry, buckets=SECONDS
        )
        self._in_flight = Gauge(f"{prefix}requests_in_flight", "Requests under way", ("webhook",), registry=registry)

    def began(self, webhook: str) -> None:
        self._in_flight.labels(webhook).inc()

    def ended(self, webhook: str, code: int, seconds: float) -> None:
        self._in_flight.labels(webhook).dec()
        self._totals.labels(webhook, str(code)).inc()
        self._seconds.labels(webhook).observe(seconds)
