"""Which classes a change concerns."""

from firebolt_operator.engineclass.watches import engine_changed
from firebolt_operator.runtime.work_queue import Priority
from tests.support.engines import a_spec, an_engine


def test_an_engine_that_turns_to_another_class_concerns_both() -> None:
    before, after = an_engine(spec=a_spec(engine_class_ref="a")), an_engine(spec=a_spec(engine_class_ref="b"))
    assert list(engine_changed(before, after)) == [(("ns", "a"), Priority.EVENT), (("ns", "b"), Priority.EVENT)]
    assert list(engine_changed(after, after)) == []
    assert list(engine_changed(None, an_engine())) == []
