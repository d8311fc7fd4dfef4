"""What do the engines of an instance hold? From caches and live alike, and what cannot be told is never overlooked."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api.names import ANNOTATION_AUTH_HASH, ANNOTATION_SIGNING_KEYS
from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS, STATEFULSETS
from firebolt_operator.auth.facts import EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import UNKNOWN, HeldKey
from firebolt_operator.auth.observe.fleet import held_keys
from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.reconciling.fleet import FleetReader
from firebolt_operator.refs import Manifest, Ref, Resource

HELD = HeldKey("signing-1", "fp1")
KEYS = {ANNOTATION_SIGNING_KEYS: "signing-1=fp1", ANNOTATION_AUTH_HASH: "0123"}

OLDER = {ANNOTATION_AUTH_HASH: "0123"}


@dataclass
class Cluster:
    """Tells the caches at once of what is put, unless it is `unseen`."""

    caches: EngineCaches = field(default_factory=lambda: engine_caches((), ""))
    bodies: dict[tuple[Resource, str], bytes] = field(default_factory=dict[tuple[Resource, str], bytes])

    def put(self, resource: Resource, name: str, document: Manifest, *, unseen: bool = False) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(len(self.bodies) + 1)}
        metadata |= document.pop("metadata", {})
        body = msgspec.json.encode({"kind": resource.kind, "metadata": metadata, **document})
        self.bodies[resource, name] = body
        for cache in () if unseen else self.caches.all():
            cache.written(Ref(resource, "ns", name), body)

    def engine(self, name: str = "sales", *, instance: str = "inst", active: int = 0, unseen: bool = False) -> None:
        status = {"currentGeneration": max(active, 0), "activeGeneration": active, "phase": "stable"}
        spec = {"instanceRef": instance, "replicas": 1}
        self.put(FIREBOLT_ENGINES, name, {"spec": spec, "status": status}, unseen=unseen)

    def statefulset(self, name: str = "sales-g0", *, owner: str = "sales", replicas: int = 1, **how: Any) -> None:
        reference = {"kind": "FireboltEngine", "name": owner, "uid": f"uid-{owner}", "controller": True}
        number = name.rpartition("-g")[2]
        metadata = {
            "labels": {"firebolt.io/engine": "sales", "firebolt.io/generation": number},
            "annotations": how.get("annotations", KEYS),
            "ownerReferences": [reference],
        }
        document = {"metadata": metadata, "spec": {"replicas": replicas}, "status": {"replicas": how.get("pods", 0)}}
        self.put(STATEFULSETS, name, document, unseen=how.get("unseen", False))

    def pod(self, statefulset: str) -> None:
        reference = {"kind": "StatefulSet", "name": statefulset, "uid": f"uid-{statefulset}", "controller": True}
        metadata = {"labels": {"firebolt.io/engine": "sales"}, "ownerReferences": [reference]}
        self.put(PODS, f"{statefulset}-0", {"metadata": metadata})

    async def pages(self, scope: Scope, /) -> AsyncGenerator[Page]:
        found = [body for (resource, _), body in self.bodies.items() if resource == scope.resource]
        yield Page(found, "1")

    def reader(self) -> FleetReader:
        caches = self.caches
        return FleetReader(
            engines=caches.engines, statefulsets=caches.statefulsets, pods=caches.pods, reader=cast("Any", self)
        )


async def both(cluster: Cluster) -> list[tuple[EngineKeys, ...]]:
    reader = cluster.reader()
    known = held_keys(reader.known("ns", "inst"), is_live=False)
    live = held_keys(await reader.live("ns", "inst"), is_live=True)
    assert (known.is_live, live.is_live) == (False, True)
    return [known.engines, live.engines]


def an_engine(*generations: GenerationKeys, unborn: bool = False) -> tuple[EngineKeys, ...]:
    return (EngineKeys(name="sales", generations=generations, is_unborn=unborn),)


async def test_each_generation_holds_what_its_statefulset_says() -> None:
    cluster = Cluster()
    cluster.engine(active=1)
    cluster.engine("other", instance="another")
    cluster.statefulset("sales-g0", annotations={})
    cluster.statefulset("sales-g1")
    expected = an_engine(GenerationKeys(keys=(), may_run=True), GenerationKeys(keys=(HELD,), may_run=True))
    assert await both(cluster) == [expected, expected]


async def test_a_generation_without_nodes_runs_only_while_a_pod_of_it_is_left() -> None:
    cluster = Cluster()
    cluster.engine()
    cluster.statefulset(replicas=0)
    parked = an_engine(GenerationKeys(keys=(HELD,), may_run=False))
    assert await both(cluster) == [parked, parked]
    cluster.pod("sales-g0")
    leaving = an_engine(GenerationKeys(keys=(HELD,), may_run=True))
    assert await both(cluster) == [leaving, leaving]


async def test_the_server_itself_may_know_of_pods_and_engines_that_no_cache_has_seen() -> None:
    cluster = Cluster()
    cluster.engine(unseen=True)
    cluster.statefulset(replicas=0, pods=1, unseen=True)
    nobody: tuple[EngineKeys, ...] = ()
    assert await both(cluster) == [nobody, an_engine(GenerationKeys(keys=(HELD,), may_run=True))]


async def test_an_engine_whose_first_generation_is_not_there_yet_is_unborn() -> None:
    cluster = Cluster()
    cluster.engine(active=-1)
    assert await both(cluster) == [an_engine(unborn=True)] * 2
    cluster.statefulset()
    assert await both(cluster) == [an_engine(GenerationKeys(keys=(HELD,), may_run=True))] * 2


async def test_a_statefulset_of_somebody_else_counts_for_nobody() -> None:
    cluster = Cluster()
    cluster.engine(active=0)
    cluster.statefulset("sales-g7", owner="somebody")
    assert await both(cluster) == [an_engine()] * 2


UNTOLD: dict[str, Callable[[Cluster], None]] = {
    "made by an older release": lambda cluster: cluster.statefulset(annotations=OLDER),
    "a statefulset that cannot be read": lambda cluster: cluster.put(
        STATEFULSETS, "sales-g0", {"metadata": {"labels": {"firebolt.io/engine": "sales"}}, "spec": "odd"}
    ),
    "an engine that cannot be read": lambda cluster: cluster.put(
        FIREBOLT_ENGINES, "sales", {"spec": {"instanceRef": 7}}
    ),
}


@pytest.mark.parametrize("spoil", UNTOLD.values(), ids=UNTOLD)
async def test_what_cannot_be_told_is_waited_for(spoil: Callable[[Cluster], None]) -> None:
    cluster = Cluster()
    cluster.engine()
    spoil(cluster)
    unknown = an_engine(GenerationKeys(keys=(UNKNOWN,), may_run=True))
    assert await both(cluster) == [unknown, unknown]


def test_without_engines_there_is_nobody_to_wait_for() -> None:
    assert held_keys(Cluster().reader().known("ns", "inst"), is_live=False) == Fleet()
