"""What do dashboards see of caches, and of the lists and watches that keep them?"""

from collections.abc import Generator, Mapping
from typing import Final, Protocol

from prometheus_client import Counter, Gauge
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from firebolt_operator.observability.metrics import Metrics

EVERYWHERE: Final = "*"
"""The namespace of what covers all of them; an empty label would get the operator's own from the scraper."""


class CacheState(Protocol):
    @property
    def broken_total(self) -> int: ...
    @property
    def broken(self) -> frozenset[tuple[str, str]]: ...
    def __len__(self) -> int: ...


class FollowedCounts(Protocol):
    """What became of the lists and watches of one namespace."""

    @property
    def lists(self) -> int: ...
    @property
    def watches(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def failures(self) -> int: ...
    @property
    def refusals(self) -> int: ...
    @property
    def short_watches(self) -> int: ...


class InformerState(Protocol):
    """What an informer tells when it is asked; by namespace, under the empty string if it covers all of them."""

    def staleness(self) -> float: ...
    def refused_parts(self) -> Mapping[str, bool]: ...
    def counts_by_part(self) -> Mapping[str, FollowedCounts]: ...


class CacheMetrics:
    """How much is cached, and how old is what we know?

    Namespaces are those that the operator was told to watch: a series for each that tenants make would be theirs to
    multiply.
    """

    def __init__(self, metrics: Metrics) -> None:
        registry, labels = metrics.registry, ("resource",)
        self._metrics = metrics
        self._named: set[str] = set()
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
        self._followed = _Followed()
        registry.register(self._followed)
        metrics.before_scrape(self._followed.refresh)

    def pass_put_off(self, namespace: str) -> None:
        self._put_off.labels(namespace if namespace in self._named else EVERYWHERE).inc()

    def follows(self, resource: str, informer: InformerState) -> None:
        named = {namespace: namespace or EVERYWHERE for namespace in informer.refused_parts()}
        self._named.update(named)
        refused = {namespace: self.refused.labels(resource, told) for namespace, told in named.items()}
        staleness = self.staleness.labels(resource)

        def refresh() -> None:
            staleness.set(informer.staleness())
            for namespace, is_refused in informer.refused_parts().items():
                refused[namespace].set(1 if is_refused else 0)

        self._metrics.before_scrape(refresh)
        self._followed.informers[resource] = informer

    def shows(self, resource: str, cache: CacheState) -> None:
        objects, broken = self.objects.labels(resource), self.broken.labels(resource)
        set_aside, told = self.set_aside.labels(resource), 0

        def refresh() -> None:
            nonlocal told
            objects.set(len(cache))
            broken.set(len(cache.broken))
            set_aside.inc(cache.broken_total - told)
            told = cache.broken_total

        self._metrics.before_scrape(refresh)


class _Followed(Collector):
    """Counted elsewhere, and copied before every scrape: what renders runs beside what counts."""

    def __init__(self) -> None:
        self.informers: dict[str, InformerState] = {}
        self._families: list[Metric] = []

    def refresh(self) -> None:
        labels = ("resource", "namespace")
        relists = CounterMetricFamily(
            "firebolt_operator_relists", "Whole lists after the first one of a kind", labels=labels
        )
        watches = CounterMetricFamily("firebolt_operator_watches", "Watches begun", labels=labels)
        refused = CounterMetricFamily(
            "firebolt_operator_watches_refused", "Watches that were not allowed, or ended at once", labels=labels
        )
        failed = CounterMetricFamily(
            "firebolt_operator_watch_failures", "Lists and watches without an answer, or that broke off", labels=labels
        )
        events = CounterMetricFamily("firebolt_operator_watch_events", "Changes that watches told of", labels=labels)
        for resource, informer in self.informers.items():
            for namespace, counts in informer.counts_by_part().items():
                place = (resource, namespace or EVERYWHERE)
                relists.add_metric(place, max(counts.lists - 1, 0))
                watches.add_metric(place, counts.watches)
                refused.add_metric(place, counts.refusals + counts.short_watches)
                failed.add_metric(place, counts.failures)
                events.add_metric(place, counts.events)
        self._families = [relists, watches, refused, failed, events]

    def collect(self) -> Generator[Metric]:
        yield from self._families
