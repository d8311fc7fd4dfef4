"""Do an instance's series end with it, without a look at anybody else's?"""

from prometheus_client import CollectorRegistry

from firebolt_operator.instance.observe.metrics import InstanceMetrics
from tests.support.instances import NOON, an_instance
from tests.support.series import series_with, unwalkable


def test_given_a_forgotten_instance_then_its_series_are_gone_and_those_of_others_were_not_touched() -> None:
    registry = CollectorRegistry()
    metrics = InstanceMetrics(registry)
    for name in ("a", "b"):
        instance = an_instance(meta={"name": name})
        metrics.record(instance)
        metrics.reconciled(instance, NOON)
    with unwalkable(metrics) as families:
        metrics.forget("ns", "a")
    assert series_with(registry, 'name="a"') == []
    assert len(series_with(registry, 'name="b"')) > families >= 4
