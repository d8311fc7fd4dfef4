"""Which classes a change concerns."""

from firebolt_operator.engineclass.watches import (
    engine_changed,
    engine_of_cluster_changed,
    engine_of_namespace_changed,
)
from firebolt_operator.runtime.work_queue import Priority
from tests.support.engines import a_spec, an_engine


def test_an_engine_that_turns_to_another_class_concerns_both() -> None:
    before, after = an_engine(spec=a_spec(engine_class_ref="a")), an_engine(spec=a_spec(engine_class_ref="b"))
    assert list(engine_changed(before, after)) == [(("ns", "a"), Priority.EVENT), (("ns", "b"), Priority.EVENT)]
    assert list(engine_changed(after, after)) == []
    assert list(engine_changed(None, an_engine())) == []


def test_an_engine_that_leaves_a_class_of_the_cluster_concerns_it() -> None:
    before, after = an_engine(spec=a_spec(engine_class_ref="a")), an_engine()
    assert list(engine_of_cluster_changed(before, after)) == [(("", "a"), Priority.EVENT)]
    assert list(engine_of_cluster_changed(before, None)) == [(("", "a"), Priority.EVENT)]
    assert list(engine_of_cluster_changed(before, before)) == []


def test_an_engine_that_comes_or_goes_concerns_the_preset_beside_it() -> None:
    assert list(engine_of_namespace_changed(None, an_engine())) == [(("ns", "firebolt"), Priority.EVENT)]
    assert list(engine_of_namespace_changed(an_engine(), None)) == [(("ns", "firebolt"), Priority.EVENT)]
    assert list(engine_of_namespace_changed(an_engine(), an_engine(spec=a_spec(replicas=2)))) == []
