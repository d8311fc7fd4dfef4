"""A change starts a pass of the instance it concerns, and only if a decision could come out differently."""

import json
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.instance.observe.watches import TLSFleet, child_changed, instance_changed
from firebolt_operator.manifests.live_objects import LiveObject, decode_live
from firebolt_operator.reconciling.issued_views import GenerationAuthority
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.work_queue import Priority
from tests.support.engines import an_engine
from tests.support.instances import a_secret, an_instance

PASS = ((("ns", "inst"), Priority.EVENT),)
LABELS = {"firebolt.io/instance": "inst"}
ROLLED_OUT = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2}
TLS = {"engine": {"enabled": False}}


def a_deployment(*, ready: int = 0, version: str = "1", **changes: Any) -> LiveObject:
    document: dict[str, Any] = {
        "metadata": {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": version, "labels": LABELS}
        | {"ownerReferences": [{"kind": "FireboltInstance", "name": "inst", "uid": "i"}]},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": ready},
        **changes,
    }
    return decode_live(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("old", "new", "concerns"),
    [
        pytest.param(None, a_deployment(), True, id="made"),
        pytest.param(a_deployment(), None, True, id="gone"),
        pytest.param(a_deployment(ready=0), a_deployment(ready=1), True, id="first-pod-ready"),
        pytest.param(a_deployment(ready=1), a_deployment(ready=0), True, id="last-pod-lost"),
        pytest.param(a_deployment(ready=1), a_deployment(ready=2, version="2"), False, id="one-more-pod"),
        pytest.param(a_deployment(), a_deployment(spec={"replicas": 3}), True, id="edited"),
        pytest.param(a_deployment(), a_deployment(status=ROLLED_OUT), True, id="rolled-out"),
    ],
)
def test_children(old: LiveObject | None, new: LiveObject | None, concerns: bool) -> None:
    assert tuple(child_changed(old, new)) == (PASS if concerns else ())


def test_secrets() -> None:
    labelled = a_secret(metadata=ObjectMeta(name="s", namespace="ns", uid="u", labels=LABELS))
    emptied = msgspec.structs.replace(labelled, filled=frozenset())
    touched = msgspec.structs.replace(
        labelled, metadata=ObjectMeta(name="s", namespace="ns", uid="u", labels=LABELS, resource_version="9")
    )
    assert tuple(child_changed(labelled, emptied)) == PASS
    assert tuple(child_changed(labelled, touched)) == ()
    assert tuple(child_changed(None, a_secret())) == ()  # of no instance


def test_the_instance_itself() -> None:
    """Its status counts too: a person may clear a phase there."""
    assert tuple(instance_changed(an_instance(), an_instance(status={"phase": "Failed"}))) == PASS
    assert tuple(instance_changed(an_instance(), None)) == PASS
    assert tuple(instance_changed(None, None)) == ()


def fleet(**instance: Any) -> TLSFleet:
    """One engine of one instance."""
    caches = engine_caches((), "")
    spec = {"id": "x", "metadata": {}, "gateway": {}, **instance}
    _put(caches.instances, "inst", spec=spec)
    _put(caches.engines, "eng", spec={"instanceRef": "inst", "replicas": 1})
    return TLSFleet(caches.engines, caches.instances)


def _put(cache: Cache[Any], name: str, **document: Any) -> None:
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}
    body = json.dumps({"kind": cache.resource.kind, "metadata": metadata, **document}).encode()
    cache.written(Ref(cache.resource, "ns", name), body)


def test_generations_of_engines_concern_instances_with_tls_only() -> None:
    old = an_engine()
    moved = msgspec.structs.replace(old, status=msgspec.structs.replace(old.status, current_generation=9))
    busy = msgspec.structs.replace(old, status=msgspec.structs.replace(old.status, replicas=9))
    assert tuple(fleet(tls=TLS).engine_changed(old, moved)) == PASS
    assert tuple(fleet(tls=TLS).engine_changed(old, busy)) == ()
    assert tuple(fleet().engine_changed(old, moved)) == ()


def test_a_ca_of_a_generation_concerns_the_instance_of_its_engine() -> None:
    one = GenerationAuthority(namespace="ns", engine="eng", text="CA-A")
    other = msgspec.structs.replace(one, text="CA-B")
    nobodys = msgspec.structs.replace(one, engine="other")
    assert tuple(fleet(tls=TLS).secret_changed(None, one)) == PASS
    assert tuple(fleet(tls=TLS).secret_changed(one, other)) == PASS
    assert tuple(fleet(tls=TLS).secret_changed(one, msgspec.structs.replace(one))) == ()
    assert tuple(fleet(tls=TLS).secret_changed(None, nobodys)) == ()
