"""What dashboards see of an instance's signing keys, and of a rotation that does not get on."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from firebolt_operator.api.auth import AuthStatus

KEY_PHASES: Final = ("Active", "ValidationOnly", "Removing")
STEPS: Final = ("AwaitingPromotion", "AwaitingRetireAnchor", "AwaitingRemoval")
NO_AUTH: Final = AuthStatus()


class SigningKeyMetrics:
    """Zeros are written as well: an alert must tell "nothing waits" from "nobody knows"."""

    def __init__(self, registry: CollectorRegistry, labels: tuple[str, ...], now: Callable[[], datetime]) -> None:
        def gauge(name: str, help_text: str, *more: str) -> Gauge:
            return Gauge(f"firebolt_instance_signing_key{name}", help_text, (*labels, *more), registry=registry)

        self._now = now
        self._generation = gauge("_generation", "Counts signing keys; 0 without authentication")
        self._keys = gauge("s", "Signing keys by what they are used for", "phase")
        self._step = gauge("_rotation_pending_step", "1 for the step that a rotation waits in", "step")
        self._seconds = gauge("_rotation_pending_seconds", "How long a rotation has waited in its step")
        self._lagging = gauge("_rotation_lagging_engines", "Engines that a rotation waits for")

    def record(self, labels: tuple[str, str], auth: AuthStatus | None) -> None:
        auth = auth or NO_AUTH
        phases = [key.phase for key in auth.signing_keys]
        self._generation.labels(*labels).set(auth.signing_key_generation)
        for phase in KEY_PHASES:
            self._keys.labels(*labels, phase).set(phases.count(phase))
        for step in STEPS:
            self._step.labels(*labels, step).set(auth.pending_rotation_step == step)
        # Read at the scrape: what waits gets no passes that would tell the time.
        self._seconds.labels(*labels).set_function(self._waiting(auth))
        self._lagging.labels(*labels).set(auth.lagging_engine_count)

    def _waiting(self, auth: AuthStatus) -> Callable[[], float]:
        since = auth.pending_since if auth.pending_rotation_step else None
        return (lambda: 0.0) if since is None else (lambda: max((self._now() - since).total_seconds(), 0.0))

    def forget(self, labels: tuple[str, str]) -> None:
        for family in (self._generation, self._seconds, self._lagging):
            family.remove(*labels)
        for phase in KEY_PHASES:
            self._keys.remove(*labels, phase)
        for step in STEPS:
            self._step.remove(*labels, step)
