from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.observe.watches import (
    EnginesOf,
    child_changed,
    engine_changed,
    pod_changed,
)
from firebolt_operator.runtime.cache import Cache
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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({"is_running": True, "ip": "10.0.0.9"}, [], id="it-starts"),
        pytest.param({"doubt": "its readiness probe fails"}, [], id="it-may-take-its-time"),
        pytest.param({"trouble": "ImagePullBackOff"}, [(KEY, Priority.EVENT)], id="it-is-in-trouble"),
        pytest.param({"is_deleting": True}, [(KEY, Priority.EVENT)], id="it-is-deleted"),
    ],
)
def test_a_pod_on_its_way_to_ready_concerns_nobody_unless_it_gets_stuck(
    change: dict[str, Any], expected: list[object]
) -> None:
    pending: dict[str, Any] = {"is_ready": False, "is_running": False, "ip": ""}
    assert list(pod_changed(a_pod("p", **pending), a_pod("p", **(pending | change)))) == expected


def test_a_pod_that_stops_running_may_end_a_drain() -> None:
    running = a_pod("p", is_ready=False, is_deleting=True)
    stopped = msgspec.structs.replace(running, is_running=False)
    assert list(pod_changed(running, stopped)) == [(KEY, Priority.EVENT)]


class TestPastGenerations:
    """The engine is at generation 5, serves with 4 and drains 3."""

    @pytest.mark.parametrize(
        ("generation", "is_past"),
        [
            pytest.param(2, True, id="done-with"),
            pytest.param(3, False, id="draining"),
            pytest.param(4, False, id="serving"),
            pytest.param(5, False, id="being-built"),
            pytest.param(6, False, id="not-heard-of-yet"),
        ],
    )
    def test_what_leaves_concerns_nobody_once_its_generation_is_done_with(self, generation: int, is_past: bool) -> None:
        referring = EnginesOf(self.engines())
        expected = [] if is_past else [(KEY, Priority.EVENT)]
        leaving = a_child("x", generation, deleting=True)
        pod = a_pod("p", generation)
        assert list(referring.pod_changed(pod, None)) == expected
        assert list(referring.child_changed(leaving, None)) == expected
        assert list(referring.child_changed(a_child("x", generation), leaving)) == expected

    def test_what_comes_back_is_for_the_sweep_to_judge(self) -> None:
        assert list(EnginesOf(self.engines()).child_changed(None, a_child("x", 2))) == [(KEY, Priority.EVENT)]

    def test_objects_of_no_generation_and_of_unknown_engines_are_looked_at(self) -> None:
        service = a_child("eng-service", None)
        assert list(EnginesOf(self.engines()).child_changed(service, None)) == [(KEY, Priority.EVENT)]
        nobody: Cache[FireboltEngine] = Cache(FIREBOLT_ENGINES, parse_engine)
        assert list(EnginesOf(nobody).pod_changed(a_pod("p", 2), None)) == [(KEY, Priority.EVENT)]

    @staticmethod
    def engines() -> Cache[FireboltEngine]:
        cache: Cache[FireboltEngine] = Cache(FIREBOLT_ENGINES, parse_engine)
        status = a_status(phase="draining", current_generation=5, active_generation=4, draining_generation=3)
        cache.listed(cache.begin_list("", 7), msgspec.json.encode(an_engine(status=status)))
        return cache


def test_a_childs_bookkeeping_concerns_nobody() -> None:
    old = a_child("eng-g0", spec={"replicas": 1})
    newer = msgspec.structs.replace(old, metadata=msgspec.structs.replace(old.metadata, resource_version="9"))
    scaled = msgspec.structs.replace(old, spec={"replicas": 2})
    assert list(child_changed(old, newer)) == []
    assert list(child_changed(old, scaled)) == [(KEY, Priority.EVENT)]
    assert list(child_changed(old, None)) == [(KEY, Priority.EVENT)]
