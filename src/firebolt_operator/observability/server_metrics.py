"""What do dashboards see of the servers of the process: their certificates, and what webhooks are asked?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from firebolt_operator.observability.metrics import SECONDS, Metrics

ADMISSION_SECONDS: Final = (0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0)  # API servers wait for ten
ALLOWED: Final = 200
FAILED: Final = 500
OUTCOMES: Final = ("allowed", "denied", "failed")


class CertificateMetrics:
    def __init__(self, metrics: Metrics) -> None:
        registry = metrics.registry
        self.reads = Counter("certwatcher_read_certificate", "Certificates read", registry=registry)
        self.errors = Counter("certwatcher_read_certificate_errors", "Certificates not read", registry=registry)
        self.expiry = Gauge(
            "firebolt_operator_certificate_expiry_timestamp_seconds",
            "When the certificate that a server shows runs out",
            ("server",),
            registry=registry,
        )

    def of(self, server: str) -> "ServerCertificateMetrics":
        return ServerCertificateMetrics(self, server)


@dataclass(frozen=True, slots=True)
class ServerCertificateMetrics:
    """A CertificateRecorder."""

    families: CertificateMetrics
    server: str

    def certificate_read(self, expires_at: datetime | None, /) -> None:
        self.families.reads.inc()
        if expires_at is not None:
            self.families.expiry.labels(self.server).set(expires_at.timestamp())

    def certificate_failed(self) -> None:
        self.families.errors.inc()


class WebhookMetrics:
    """Admission requests, by webhook path and by the kind that they are about."""

    def __init__(self, metrics: Metrics, kinds: Mapping[str, str]) -> None:
        """`kinds`: by path."""
        registry, prefix = metrics.registry, "controller_runtime_webhook_"
        self._totals = Counter(f"{prefix}requests", "Requests by code", ("webhook", "code"), registry=registry)
        self._seconds = Histogram(
            f"{prefix}latency_seconds", "Time to the answer", ("webhook",), registry=registry, buckets=SECONDS
        )
        self._in_flight = Gauge(f"{prefix}requests_in_flight", "Requests under way", ("webhook",), registry=registry)
        self._kinds = kinds
        self._admissions = Histogram(
            "firebolt_operator_admission_duration_seconds",
            "Time to a verdict over an object that somebody writes",
            ("kind", "outcome"),
            registry=registry,
            buckets=ADMISSION_SECONDS,
        )
        for kind in kinds.values():
            for outcome in OUTCOMES:
                self._admissions.labels(kind, outcome)

    def began(self, webhook: str) -> None:
        self._in_flight.labels(webhook).inc()

    def ended(self, webhook: str, code: int, seconds: float) -> None:
        self._in_flight.labels(webhook).dec()
        self._totals.labels(webhook, str(code)).inc()
        self._seconds.labels(webhook).observe(seconds)
        self._admissions.labels(self._kinds[webhook], outcome_of(code)).observe(seconds)


def outcome_of(code: int) -> str:
    """Somebody who is denied has a mistake to mend; whoever is told of a failure meets ours."""
    if code == ALLOWED:
        return "allowed"
    return "failed" if code >= FAILED else "denied"
