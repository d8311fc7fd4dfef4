"""Which engines does a change of what they share concern?"""

from typing import Any

import msgspec
import pytest

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engine.observe.watches import EnginesOf
from firebolt_operator.refs import Manifest, Ref


def an_engine(name: str, namespace: str, engine_class: str = "") -> bytes:
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "resourceVersion": "3"}
    named = {"engineClassRef": engine_class} if engine_class else {}
    return msgspec.json.encode({"metadata": metadata, "spec": {"instanceRef": "inst", "replicas": 1, **named}})


@pytest.fixture
def engines() -> EnginesOf:
    caches = engine_caches((), "")
    for name, namespace, named in (("a", "ns", "big"), ("b", "ns", ""), ("c", "far", "big"), ("d", "far", "small")):
        caches.engines.written(Ref(FIREBOLT_ENGINES, namespace, name), an_engine(name, namespace, named))
    return EnginesOf(caches.engines)


def a_preset(name: str = "firebolt", template: Manifest | None = None, **status: Any) -> FireboltEnginePreset:
    document = {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"template": template or {}},
        "status": status,
    }
    return msgspec.convert(document, FireboltEnginePreset)


def a_cluster_class(template: Manifest | None = None, **metadata: Any) -> ClusterFireboltEngineClass:
    document = {"metadata": {"name": "big", **metadata}, "spec": {"template": template or {}}}
    return msgspec.convert(document, ClusterFireboltEngineClass)


def keys(requests: Any) -> list[tuple[str, str]]:
    return sorted(key for key, _ in requests)


READY: Manifest = {
    "type": "Ready",
    "status": "False",
    "reason": "OperatorOwnedFieldSet",
    "message": "x",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def test_a_preset_concerns_all_engines_of_its_namespace(engines: EnginesOf) -> None:
    beside = [("ns", "a"), ("ns", "b")]
    assert keys(engines.preset_changed(None, a_preset())) == beside
    assert keys(engines.preset_changed(a_preset(), None)) == beside
    assert keys(engines.preset_changed(a_preset(), a_preset(template={"spec": {}}))) == beside
    assert keys(engines.preset_changed(a_preset(), a_preset(conditions=[READY]))) == beside


def test_a_preset_concerns_nobody_while_nothing_changes_or_if_it_is_ignored(engines: EnginesOf) -> None:
    assert keys(engines.preset_changed(a_preset(), a_preset(boundEngines=2))) == []
    assert keys(engines.preset_changed(None, a_preset("other"))) == []


def test_a_class_of_the_cluster_concerns_engines_of_all_namespaces(engines: EnginesOf) -> None:
    named = [("far", "c"), ("ns", "a")]
    assert keys(engines.cluster_class_changed(None, a_cluster_class())) == named
    assert keys(engines.cluster_class_changed(a_cluster_class(), None)) == named
    assert keys(engines.cluster_class_changed(a_cluster_class(), a_cluster_class({"spec": {}}))) == named
    assert keys(engines.cluster_class_changed(a_cluster_class(), a_cluster_class(labels={"a": "b"}))) == []
