import msgspec
import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.engine.mapping import child_changed, class_of_engine, engine_changed, pod_changed
from firebolt_operator.runtime.work_queue import Priority
from tests.support.engines import a_child, a_pod, a_spec, a_status, an_engine

KEY = ("ns", "eng")


def with_annotation(value: str) -> FireboltEngine:
    engine = an_engine()
    metadata = msgspec.structs.replace(engine.metadata, annotations={ANNOTATION_WAKE_REQUESTED: value})
    return msgspec.structs.replace(engine, metadata=metadata)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, an_engine(), [(KEY, Priority.EVENT)], id="new"),
        pytest.param(an_engine(), None, [(KEY, Priority.EVENT)], id="gone"),
        pytest.param(an_engine(), an_engine(spec=a_spec(replicas=5)), [(KEY, Priority.EVENT)], id="edited"),
        pytest.param(an_engine(), an_engine(status=a_status(phase="creating")), [], id="our-own-status"),
        pytest.param(an_engine(), with_annotation("now"), [(KEY, Priority.URGENT)], id="somebody-waits"),
    ],
)
def test_engines(old: FireboltEngine | None, new: FireboltEngine | None, expected: list[object]) -> None:
    assert list(engine_changed(old, new)) == expected


def test_a_pod_that_turns_ready_is_urgent_and_anything_else_is_not() -> None:
    unready, ready = a_pod("p", is_ready=False), a_pod("p")
    assert list(pod_changed(unready, ready)) == [(KEY, Priority.URGENT)]
    assert list(pod_changed(ready, unready)) == [(KEY, Priority.EVENT)]
    assert list(pod_changed(ready, None)) == [(KEY, Priority.EVENT)]
    assert list(pod_changed(ready, a_pod("p"))) == []


def test_a_childs_bookkeeping_concerns_nobody() -> None:
    old = a_child("eng-g0", spec={"replicas": 1})
    newer = msgspec.structs.replace(old, metadata=msgspec.structs.replace(old.metadata, resource_version="9"))
    scaled = msgspec.structs.replace(old, spec={"replicas": 2})
    assert list(child_changed(old, newer)) == []
    assert list(child_changed(old, scaled)) == [(KEY, Priority.EVENT)]
    assert list(child_changed(old, None)) == [(KEY, Priority.EVENT)]


def test_an_engine_that_turns_to_another_class_concerns_both() -> None:
    before, after = an_engine(spec=a_spec(engine_class_ref="a")), an_engine(spec=a_spec(engine_class_ref="b"))
    assert list(class_of_engine(before, after)) == [(("ns", "a"), Priority.EVENT), (("ns", "b"), Priority.EVENT)]
    assert list(class_of_engine(after, after)) == []
    assert list(class_of_engine(None, an_engine())) == []
