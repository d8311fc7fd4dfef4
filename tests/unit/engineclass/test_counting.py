"""Engines that the cache could not read are counted in a class's status, as its guard counts them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engineclass.reconcile import GuardedReconciler
from firebolt_operator.engineclass.tellers import ClassTeller
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.kube.set_aside import outline
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.policy.guards import CLASS_GUARD
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.controller import Outcome
from tests.support.deep import with_depth


def an_engine(name: str, class_ref: str, namespace: str = "ns") -> Manifest:
    metadata = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "3"}
    return {"metadata": metadata, "spec": {"instanceRef": "inst", "replicas": 1, "engineClassRef": class_ref}}


def deep(engine: Manifest) -> bytes:
    return outline(with_depth(engine, "spec", "template", "spec", "x"))


@dataclass
class Server:
    engines: list[bytes]
    told: list[int] = field(default_factory=list[int])
    lists: int = 0
    outcome: Outcome | None = None

    async def pages(self, scope: Scope, /) -> AsyncGenerator[Page]:
        self.lists += 1
        assert (scope.resource, scope.namespace) == (FIREBOLT_ENGINES, "ns")
        for engine in self.engines:
            yield Page([engine], "9")

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        self.told.append(manifest["status"]["boundEngines"])
        return {**manifest, "spec": {"template": {}}}


async def counted(*engines: bytes) -> Server:
    caches, server = engine_caches((), ""), Server(list(engines))
    metadata = {"name": "big", "namespace": "ns", "uid": "u", "resourceVersion": "2", "generation": 1}
    body = {"metadata": {**metadata, "finalizers": [names.FINALIZER_ENGINE_CLASS]}, "spec": {"template": {}}}
    caches.engine_classes.written(Ref(FIREBOLT_ENGINE_CLASSES, "ns", "big"), msgspec.json.encode(body))
    for engine in engines:
        caches.engines.written(Ref(FIREBOLT_ENGINES, "", ""), engine)
    reconciler = GuardedReconciler(
        guard=CLASS_GUARD,
        objects=caches.engine_classes,
        engines=caches.engines,
        teller=ClassTeller(
            bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
            reader=cast("Any", server),
            writer=cast("Any", server),
            clock=SystemClock(),
        ),
        reader=cast("Any", server),
        writer=cast("Any", server),
        clock=SystemClock(),
    )
    server.outcome = await reconciler.reconcile(("ns", "big"))
    return server


async def test_given_an_engine_that_cannot_be_read_then_it_is_counted_if_it_names_the_class() -> None:
    readable = msgspec.json.encode(an_engine("plain", "big"))
    found = await counted(readable, deep(an_engine("deep", "big")), deep(an_engine("other", "small")))
    assert found.told == [2]


async def test_given_that_all_can_be_read_then_nobody_is_asked() -> None:
    found = await counted(msgspec.json.encode(an_engine("plain", "big")), deep(an_engine("deep", "big", "elsewhere")))
    assert (found.told, found.lists) == ([1], 0)
    # Neither the time nor anything else than what it read matters: it need not be repeated before something changes.
    assert found.outcome is not None
    assert found.outcome.is_settled
