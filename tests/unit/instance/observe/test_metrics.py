"""Do an instance's series end with it, without a look at anybody else's?"""

from typing import Any

from prometheus_client import CollectorRegistry

from firebolt_operator.instance.observe.metrics import InstanceMetrics
from tests.support.instances import NOON, an_instance
from tests.support.manual_clock import ManualClock
from tests.support.series import series_with, unwalkable


def test_given_a_forgotten_instance_then_its_series_are_gone_and_those_of_others_were_not_touched() -> None:
    registry = CollectorRegistry()
    metrics = InstanceMetrics(registry, ManualClock())
    for name in ("a", "b"):
        instance = an_instance(meta={"name": name})
        metrics.record(instance)
        metrics.reconciled(instance, NOON)
    with unwalkable(metrics) as families:
        metrics.forget("ns", "a")
    assert series_with(registry, 'name="a"') == []
    assert len(series_with(registry, 'name="b"')) > families >= 4


ROTATING = {
    "signingKeys": [
        {"id": "a", "secretName": "a", "createdAt": "2026-01-01T00:00:00Z", "phase": "Active"},
        {"id": "b", "secretName": "b", "createdAt": "2026-01-01T00:00:00Z", "phase": "ValidationOnly"},
        {"id": "c", "secretName": "c", "createdAt": "2026-01-01T00:00:00Z", "phase": "ValidationOnly"},
    ],
    "signingKeyGeneration": 3,
    "pendingRotationStep": "AwaitingPromotion",
    "pendingSince": "2026-01-01T12:00:00Z",
    "laggingEngines": ["x"],
    "laggingEngineCount": 7,
}


def signing_keys(registry: CollectorRegistry) -> dict[str, float]:
    """What is not zero, and how many series there are."""
    prefix = "firebolt_instance_signing_key"
    found = {
        f"{sample.name.removeprefix(prefix)} {sample.labels.get('phase', sample.labels.get('step', ''))}": sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name.startswith(prefix)
    }
    return {name: value for name, value in found.items() if value} | {"series": len(found)}


def test_given_a_rotation_that_waits_then_its_time_goes_on_without_passes() -> None:
    registry, clock = CollectorRegistry(), ManualClock()
    metrics = InstanceMetrics(registry, clock)
    status: dict[str, Any] = {"auth": ROTATING}
    metrics.record(an_instance(status=status))
    clock.elapsed += 90
    assert signing_keys(registry) == {
        "_generation ": 3,
        "s Active": 1,
        "s ValidationOnly": 2,
        "_rotation_pending_step AwaitingPromotion": 1,
        "_rotation_pending_seconds ": 90,
        "_rotation_lagging_engines ": 7,
        "series": 9,
    }
    metrics.record(an_instance())
    assert signing_keys(registry) == {"series": 9}
