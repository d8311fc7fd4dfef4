"""The names and labels that dashboards rely on."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.controller_metrics import ControllerMetrics, WorkQueueMetrics
from firebolt_operator.observability.metrics import EventMetrics, LeaderMetrics, Metrics, RequestMetrics
from firebolt_operator.observability.server_metrics import CertificateMetrics, WebhookMetrics
from tests.support.series import samples


@dataclass
class AQueue:
    ages: list[float] = field(default_factory=list[float])

    def depths(self) -> dict[str, int]:
        return {"urgent": 0, "event": 3, "resync": 1}

    def oldest_age(self) -> float:
        return 7.0

    def running_ages(self) -> list[float]:
        return self.ages


@dataclass
class ACache:
    broken_total: int = 2
    broken: frozenset[tuple[str, str]] = frozenset({("ns", "a")})

    def __len__(self) -> int:
        return 5


async def test_given_a_controller_then_all_results_exist_before_anything_happened() -> None:
    metrics = Metrics()
    ControllerMetrics(metrics).recorder("fireboltengine", workers=8)
    found = await samples(metrics)
    for result in ("success", "error", "requeue", "requeue_after"):
        assert found[f"controller_runtime_reconcile_total{{controller=fireboltengine,result={result}}}"] == 0
    assert found["controller_runtime_max_concurrent_reconciles{controller=fireboltengine}"] == 8


async def test_given_passes_then_they_are_counted_by_what_became_of_them() -> None:
    metrics = Metrics()
    recorder = ControllerMetrics(metrics).recorder("c", workers=1)
    for result in ("success", "error", "requeue_after"):
        recorder.began()
        recorder.ended(result, 0.02)
    recorder.began()
    recorder.rejected()
    recorder.timed_out()
    recorder.crashed()
    found = await samples(metrics)
    assert {
        name: value for name, value in found.items() if value and name.startswith("controller_") and "le=" not in name
    } == {
        "controller_runtime_reconcile_total{controller=c,result=success}": 1,
        "controller_runtime_reconcile_total{controller=c,result=error}": 1,
        "controller_runtime_reconcile_total{controller=c,result=requeue_after}": 1,
        "controller_runtime_reconcile_errors_total{controller=c}": 1,
        "controller_runtime_terminal_reconcile_errors_total{controller=c}": 1,
        "controller_runtime_reconcile_timeouts_total{controller=c}": 1,
        "controller_runtime_reconcile_panics_total{controller=c}": 1,
        "controller_runtime_reconcile_time_seconds_count{controller=c}": 3,
        "controller_runtime_reconcile_time_seconds_sum{controller=c}": 0.06,
        "controller_runtime_max_concurrent_reconciles{controller=c}": 1,
        "controller_runtime_active_workers{controller=c}": 1,
    }


async def test_given_a_queue_then_its_levels_are_read_at_the_scrape() -> None:
    metrics, queue = Metrics(), AQueue()
    families = WorkQueueMetrics(metrics)
    recorder = families.recorder("c")
    families.shows("c", queue)
    queue.ages = [1.5, 4.0]
    recorder.added()
    recorder.retried()
    recorder.handed_out(0.2)
    recorder.finished(0.3)
    found = await samples(metrics)
    labels = "controller=c,name=c"
    assert {name: value for name, value in found.items() if name.startswith("workqueue") and "le=" not in name} == {
        f"workqueue_depth{{{labels},priority=urgent}}": 0,
        f"workqueue_depth{{{labels},priority=event}}": 3,
        f"workqueue_depth{{{labels},priority=resync}}": 1,
        f"workqueue_oldest_key_age_seconds{{{labels}}}": 7,
        f"workqueue_adds_total{{{labels}}}": 1,
        f"workqueue_retries_total{{{labels}}}": 1,
        f"workqueue_queue_duration_seconds_count{{{labels}}}": 1,
        f"workqueue_queue_duration_seconds_sum{{{labels}}}": 0.2,
        f"workqueue_work_duration_seconds_count{{{labels}}}": 1,
        f"workqueue_work_duration_seconds_sum{{{labels}}}": 0.3,
        f"workqueue_unfinished_work_seconds{{{labels}}}": 5.5,
        f"workqueue_longest_running_processor_seconds{{{labels}}}": 4,
    }


async def test_given_requests_leadership_webhooks_and_certificates_then_each_has_its_name() -> None:
    metrics = Metrics()
    requests = RequestMetrics(metrics, "10.0.0.1:443")
    requests.request("GET", "200", 0.1, "pods", "list")
    requests.request("GET", "200", 0.3, "secrets", "watch")
    leader = LeaderMetrics(metrics, "lease")
    leader.leading(True)
    leader.slow_path()
    certificates = CertificateMetrics(metrics).of("webhook")
    certificates.certificate_read(datetime(2027, 1, 1, tzinfo=UTC))
    certificates.certificate_read(None)
    certificates.certificate_failed()
    webhooks = WebhookMetrics(metrics, {"/validate": "fireboltengines"})
    webhooks.began("/validate")
    webhooks.began("/validate")
    webhooks.ended("/validate", 200, 0.01)
    found = await samples(metrics)
    expected = {
        "rest_client_requests_total{code=200,host=10.0.0.1:443,method=GET}": 2,
        "firebolt_operator_request_duration_seconds_sum{code=200,resource=pods,verb=list}": 0.1,
        "firebolt_operator_request_duration_seconds_bucket{code=200,le=0.5,resource=secrets,verb=watch}": 1,
        "firebolt_operator_request_duration_seconds_bucket{code=200,le=0.1,resource=secrets,verb=watch}": 0,
        "leader_election_master_status{name=lease}": 1,
        "leader_election_slowpath_total{name=lease}": 1,
        "certwatcher_read_certificate_total{}": 2,
        "firebolt_operator_certificate_expiry_timestamp_seconds{server=webhook}": 1798761600,
        "certwatcher_read_certificate_errors_total{}": 1,
        "controller_runtime_webhook_requests_total{code=200,webhook=/validate}": 1,
        "controller_runtime_webhook_requests_in_flight{webhook=/validate}": 1,
        "controller_runtime_webhook_latency_seconds_count{webhook=/validate}": 1,
    }
    assert {name: found[name] for name in expected} == expected


async def test_given_a_cache_then_its_size_and_age_are_shown_and_the_process_too() -> None:
    metrics = Metrics()
    cache = ACache()
    CacheMetrics(metrics).shows("pods", cache)
    await samples(metrics)
    cache.broken_total += 3
    found = await samples(metrics)
    assert found["firebolt_operator_objects_set_aside_total{resource=pods}"] == 5
    assert found["firebolt_operator_cache_objects{resource=pods}"] == 5
    assert found["firebolt_operator_cache_broken_objects{resource=pods}"] == 1
    assert found["process_resident_memory_bytes{}"] > 0


@pytest.mark.parametrize(
    ("code", "outcome"), [(200, "allowed"), (400, "denied"), (403, "denied"), (422, "denied"), (500, "failed")]
)
async def test_given_a_verdict_then_it_counts_for_its_kind_and_outcome_only(code: int, outcome: str) -> None:
    metrics = Metrics()
    webhooks = WebhookMetrics(metrics, {"/validate": "fireboltengines", "/mutate": "fireboltinstances"})
    webhooks.began("/validate")
    webhooks.ended("/validate", code, 0.3)
    family = "firebolt_operator_admission_duration_seconds"
    found = {name: value for name, value in (await samples(metrics)).items() if name.startswith(f"{family}_count")}
    assert {name for name, value in found.items() if value} == {
        f"{family}_count{{kind=fireboltengines,outcome={outcome}}}"
    }
    assert len(found) == 6  # both kinds, from zero on: an alert can tell that nothing failed


async def test_given_controllers_then_their_lost_events_are_counted_from_zero_on() -> None:
    metrics = Metrics()
    events = EventMetrics(metrics)
    events.expect(("fireboltengine",))
    lost = "firebolt_operator_events_lost_total{controller=fireboltengine,why=refused}"
    assert (await samples(metrics))[lost] == 0
    events.event_lost("fireboltengine", "refused")
    assert (await samples(metrics))[lost] == 1
