"""What do dashboards see of controllers and their queues? The names that operators of controllers know already."""

from collections.abc import Mapping
from typing import Final, Protocol

from prometheus_client import Counter, Gauge, Histogram

from firebolt_operator.observability.metrics import SECONDS, Metrics

_RESULTS: Final = ("success", "error", "requeue", "requeue_after")


class QueueState(Protocol):
    """What a work queue tells when it is asked."""

    def depths(self) -> Mapping[str, int]: ...
    def oldest_age(self) -> float: ...
    def running_ages(self) -> list[float]: ...


class ControllerMetrics:
    def __init__(self, metrics: Metrics) -> None:
        registry, labels = metrics.registry, ("controller",)
        prefix = "controller_runtime_"
        self.results = Counter(f"{prefix}reconcile", "Passes by result", ("controller", "result"), registry=registry)
        self.errors = Counter(f"{prefix}reconcile_errors", "Passes that failed", labels, registry=registry)
        self.terminal = Counter(
            f"{prefix}terminal_reconcile_errors", "Passes that failed and are not retried", labels, registry=registry
        )
        self.panics = Counter(f"{prefix}reconcile_panics", "Passes that met a bug", labels, registry=registry)
        self.timeouts = Counter(
            f"{prefix}reconcile_timeouts", "Passes that outlived their deadline", labels, registry=registry
        )
        self.seconds = Histogram(
            f"{prefix}reconcile_time_seconds", "Length of passes", labels, registry=registry, buckets=SECONDS
        )
        self.most_workers = Gauge(
            f"{prefix}max_concurrent_reconciles", "Most passes at once", labels, registry=registry
        )
        self.workers = Gauge(f"{prefix}active_workers", "Passes under way", labels, registry=registry)

    def recorder(self, controller: str, *, workers: int) -> "PassMetrics":
        self.most_workers.labels(controller).set(workers)
        return PassMetrics(self, controller)


class PassMetrics:
    """A PassRecorder."""

    def __init__(self, families: ControllerMetrics, controller: str) -> None:
        self._results = {result: families.results.labels(controller, result) for result in _RESULTS}
        self._errors = families.errors.labels(controller)
        self._terminal = families.terminal.labels(controller)
        self._panics = families.panics.labels(controller)
        self._timeouts = families.timeouts.labels(controller)
        self._seconds = families.seconds.labels(controller)
        self._workers = families.workers.labels(controller)

    def began(self) -> None:
        self._workers.inc()

    def ended(self, result: str, seconds: float, /) -> None:
        self._workers.dec()
        self._results[result].inc()
        self._seconds.observe(seconds)
        if result == "error":
            self._errors.inc()

    def rejected(self) -> None:
        self._terminal.inc()

    def timed_out(self) -> None:
        self._timeouts.inc()

    def crashed(self) -> None:
        self._panics.inc()


class WorkQueueMetrics:
    def __init__(self, metrics: Metrics) -> None:
        registry, labels = metrics.registry, ("name", "controller")
        self._metrics = metrics
        self.depth = Gauge("workqueue_depth", "Keys that wait", (*labels, "priority"), registry=registry)
        self.oldest = Gauge("workqueue_oldest_key_age_seconds", "Age of the oldest key", labels, registry=registry)
        self.adds = Counter("workqueue_adds", "Keys added", labels, registry=registry)
        self.retries = Counter("workqueue_retries", "Keys added again after a delay", labels, registry=registry)
        self.waited = Histogram(
            "workqueue_queue_duration_seconds", "How long keys wait", labels, registry=registry, buckets=SECONDS
        )
        self.worked = Histogram(
            "workqueue_work_duration_seconds",
            "How long keys are worked on",
            labels,
            registry=registry,
            buckets=SECONDS,
        )
        self.unfinished = Gauge(
            "workqueue_unfinished_work_seconds", "Time spent in passes under way", labels, registry=registry
        )
        self.longest = Gauge(
            "workqueue_longest_running_processor_seconds", "Age of the oldest pass", labels, registry=registry
        )

    def recorder(self, name: str) -> "QueueMetrics":
        return QueueMetrics(self, name)

    def shows(self, name: str, queue: QueueState) -> None:
        labels = (name, name)
        depths = {priority: self.depth.labels(*labels, priority) for priority in queue.depths()}
        oldest, unfinished = self.oldest.labels(*labels), self.unfinished.labels(*labels)
        longest = self.longest.labels(*labels)

        def refresh() -> None:
            for priority, depth in queue.depths().items():
                depths[priority].set(depth)
            ages = queue.running_ages()
            oldest.set(queue.oldest_age())
            unfinished.set(sum(ages))
            longest.set(max(ages, default=0.0))

        self._metrics.before_scrape(refresh)


class QueueMetrics:
    """A QueueRecorder."""

    def __init__(self, families: WorkQueueMetrics, name: str) -> None:
        self._adds = families.adds.labels(name, name)
        self._retries = families.retries.labels(name, name)
        self._waited = families.waited.labels(name, name)
        self._worked = families.worked.labels(name, name)

    def added(self) -> None:
        self._adds.inc()

    def retried(self) -> None:
        self._retries.inc()

    def handed_out(self, waited: float, /) -> None:
        self._waited.observe(waited)

    def finished(self, worked: float, /) -> None:
        self._worked.observe(worked)
