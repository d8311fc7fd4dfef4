"""Do an engine's series end with it, without a look at anybody else's?"""

from typing import Any

from prometheus_client import CollectorRegistry

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.observe.metrics import EngineMetrics
from tests.support.engines import NOON, a_spec, a_status, an_engine
from tests.support.series import series_with, unwalkable


def recorded(metrics: EngineMetrics, *names: str, **fields: Any) -> None:
    for name in names:
        engine = an_engine(metadata=ObjectMeta(name=name, namespace="ns", uid=f"uid-{name}"), **fields)
        metrics.record(engine, None)
        metrics.reconciled(engine, NOON)
        metrics.drain_check_failed(engine)


def test_given_a_forgotten_engine_then_its_series_are_gone_and_those_of_others_were_not_touched() -> None:
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    recorded(metrics, "a", "b")
    every = [line.replace('name="a"', 'name="b"') for line in series_with(registry, 'name="a"')]
    with unwalkable(metrics):
        metrics.forget("ns", "a")
    assert series_with(registry, 'name="a"') == []
    assert len(every) >= 17
    assert [line.partition(" ")[0] for line in series_with(registry, 'name="b"')] == [
        line.partition(" ")[0] for line in every
    ]


def test_given_an_engine_that_was_never_looked_at_then_only_what_is_known_is_told() -> None:
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    metrics.reconciled(an_engine(), NOON)
    assert [line.partition("{")[0] for line in series_with(registry, "firebolt_io_instance")] == [
        "firebolt_engine_last_reconciled_timestamp"
    ]


def test_given_an_engine_then_its_series_say_what_was_recorded_last() -> None:
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    engine = an_engine(status=a_status(phase="draining", active_generation=3, draining_generation=2))
    metrics.record(an_engine(), None)
    metrics.record(engine, None)
    labels = {"namespace": "ns", "name": "eng", "firebolt_io_instance": "inst"}

    def value(name: str, **more: str) -> float | None:
        return registry.get_sample_value(f"firebolt_engine_{name}", labels | more)

    assert (value("status_phase", phase="draining"), value("status_phase", phase="stable")) == (1, 0)
    assert (value("active_generation"), value("draining_generation")) == (3, 2)
    assert (value("spec_replicas"), value("pods_total")) == (engine.spec and engine.spec.replicas, 0)


def test_given_an_engine_of_another_instance_then_its_old_series_are_gone_at_once() -> None:
    registry = CollectorRegistry()
    metrics = EngineMetrics(registry)
    recorded(metrics, "a")
    recorded(metrics, "a", spec=a_spec(instance_ref="other"))
    assert series_with(registry, 'firebolt_io_instance="inst"') == []
    assert series_with(registry, 'firebolt_io_instance="other"') != []


def test_given_an_engine_then_no_family_uses_the_label_of_the_scraper() -> None:
    registry = CollectorRegistry()
    recorded(EngineMetrics(registry), "a")
    labels = {name for family in registry.collect() for sample in family.samples for name in sample.labels}
    assert "instance" not in labels
    assert labels == {"namespace", "name", "firebolt_io_instance", "phase", "type"}


def test_given_an_engine_then_every_condition_that_it_can_have_is_told() -> None:
    registry = CollectorRegistry()
    recorded(EngineMetrics(registry), "a")
    types = [
        sample.labels["type"]
        for family in registry.collect()
        for sample in family.samples
        if sample.name == "firebolt_engine_status_condition"
    ]
    assert sorted(types) == ["InstanceReady", "Ready", "Reconciling", "Stalled"]
