"""Do an engine's series end with it, without a look at anybody else's?"""

from typing import Any

from prometheus_client import CollectorRegistry

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.observe.metrics import EngineMetrics
from tests.support.engines import NOON, a_spec, an_engine
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
    with unwalkable(metrics) as families:
        metrics.forget("ns", "a")
    assert series_with(registry, 'name="a"') == []
    assert len(series_with(registry, 'name="b"')) > families >= 9


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
