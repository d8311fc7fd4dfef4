from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, LABEL_INSTANCE
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine, parse_instance
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engine.observe.watches import (
    EnginesOf,
    child_changed,
    engine_changed,
    pod_changed,
)
from firebolt_operator.engine.views import Child
from firebolt_operator.manifests.issued import IssuedSecret
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.work_queue import Priority
from tests.support.engines import NOON, a_child, a_pod, a_spec, a_status, an_engine

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
        pytest.param(
            an_engine(spec=a_spec(replicas=0)), an_engine(), [(KEY, Priority.URGENT)], id="it-gets-nodes-after-a-stop"
        ),
        pytest.param(an_engine(), an_engine(spec=a_spec(replicas=0)), [(KEY, Priority.EVENT)], id="it-is-stopped"),
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


def a_serving_secret(version: str, served: str) -> Child:
    secret = IssuedSecret(uid="u", created_at=NOON, filled=frozenset({"tls.crt"}), version=version, served=served)
    return msgspec.structs.replace(a_child("eng-g0-engine-tls", 0), issued=secret)


def test_of_a_certificate_what_is_issued_matters_and_nothing_else() -> None:
    asked = a_child("eng-g0-engine-tls", 0)
    assert list(child_changed(asked, msgspec.structs.replace(asked, ready_generation=1))) == [(KEY, Priority.EVENT)]
    first = a_serving_secret("1", "a")
    assert list(child_changed(first, a_serving_secret("2", "b"))) == [(KEY, Priority.EVENT)]
    assert list(child_changed(first, a_serving_secret("2", "a"))) == []


@pytest.mark.parametrize(
    ("name", "phase", "expected"),
    [
        pytest.param("inst-engine-ca-bundle", "creating", [(KEY, Priority.EVENT)], id="it-may-wait-for-it"),
        pytest.param("inst-engine-ca-bundle", "stable", [], id="it-waits-for-nothing"),
        pytest.param("inst-gateway-tls", "creating", [], id="another-secret"),
        pytest.param("other-engine-ca-bundle", "creating", [], id="of-another-instance"),
    ],
)
def test_what_the_gateway_trusts_concerns_those_who_make_a_generation(
    name: str, phase: str, expected: list[object]
) -> None:
    engines = engine_caches((), "").engines
    engines.listed(engines.begin_list("", 7), msgspec.json.encode(an_engine(status=a_status(phase=phase))))
    secret = a_child(name)
    secret.metadata.labels[LABEL_INSTANCE] = "inst"
    assert list(EnginesOf(engines).bundle_changed(None, secret)) == expected
    assert list(EnginesOf(engines).bundle_changed(secret, None)) == expected


Change = Callable[[Manifest], None]
CONCERNING: dict[str, Change] = {
    "asked for": lambda document: document["spec"].update(tls={"engine": {"enabled": True}}),
    "provisioned": lambda document: document["status"].update(
        engineTLS={"secretName": "a", "createdAt": "2026-01-01T00:00:00Z"}
    ),
    "trusted": lambda document: document["status"].update(rolledEngineTrustCAs=["f"]),
}


@pytest.mark.parametrize("change", CONCERNING.values(), ids=CONCERNING)
def test_what_an_instance_says_about_tls_concerns_its_engines(change: Change) -> None:
    engines = engine_caches((), "").engines
    engines.listed(engines.begin_list("", 7), msgspec.json.encode(an_engine()))
    document: Manifest = {
        "metadata": {"name": "inst", "namespace": "ns"},
        "spec": {"id": "x", "metadata": {}, "gateway": {}},
        "status": {"phase": "Ready", "metadataEndpoint": "m:7000"},
    }
    before = parse_instance(document)
    change(document)
    assert list(EnginesOf(engines).instance_changed(before, before)) == []
    assert list(EnginesOf(engines).instance_changed(before, parse_instance(document))) == [(KEY, Priority.EVENT)]
