"""When does a class that is being deleted lose its finalizer? Not while an engine that names it may be on its way."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engineclass.reconcile import GuardedReconciler
from firebolt_operator.engineclass.tellers import ClassTeller
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.look_again import After
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.guards import CLASS_GUARD
from firebolt_operator.refs import Manifest, Ref
from tests.support.manual_clock import ManualClock

MINUTE = timedelta(minutes=1)
KEY = ("ns", "big")


@dataclass
class Server:
    engines: list[Manifest] = field(default_factory=list[Manifest])
    patches: list[Manifest] = field(default_factory=list[Manifest])

    async def pages(self, _: Scope, /) -> AsyncGenerator[Page]:
        yield Page([msgspec.json.encode(each) for each in self.engines], "9")

    async def merge_patch(self, _: Ref, patch: Manifest, /) -> Manifest:
        self.patches.append(patch)
        return patch

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        return {**manifest, "spec": {"template": {}}}


def a_reconciler(server: Server, clock: ManualClock, request_time: timedelta) -> GuardedReconciler[FireboltEngineClass]:
    caches = engine_caches((), "")
    metadata = {
        "name": "big",
        "namespace": "ns",
        "uid": "u",
        "resourceVersion": "2",
        "finalizers": [names.FINALIZER_ENGINE_CLASS],
        "deletionTimestamp": "2020-01-01T00:00:00Z",  # by a clock that is far behind
    }
    body = msgspec.json.encode({"metadata": metadata, "spec": {"template": {}}})
    caches.engine_classes.written(Ref(FIREBOLT_ENGINE_CLASSES, *KEY), body)
    return GuardedReconciler(
        guard=CLASS_GUARD,
        objects=caches.engine_classes,
        engines=caches.engines,
        teller=ClassTeller(
            bounds=ResourceBounds(),
            reader=cast("Any", server),
            writer=cast("Any", server),
            clock=clock,
        ),
        reader=cast("Any", server),
        writer=cast("Any", server),
        clock=clock,
        request_time=request_time,
    )


async def test_without_webhooks_a_class_without_engines_goes_at_once() -> None:
    server = Server()
    await a_reconciler(server, ManualClock(), timedelta(0)).reconcile(KEY)
    assert [patch["metadata"]["finalizers"] for patch in server.patches] == [[]]


async def test_with_webhooks_it_waits_for_requests_that_found_it_alive_and_looks_again() -> None:
    server, clock = Server(), ManualClock()
    reconciler = a_reconciler(server, clock, MINUTE)
    assert (await reconciler.reconcile(KEY)).look_again == After(MINUTE)
    await clock.advance(59)
    assert (await reconciler.reconcile(KEY)).look_again == After(timedelta(seconds=1))
    server.engines.append({"metadata": {"name": "late", "namespace": "ns"}, "spec": an_engine_of("big")})
    await clock.advance(1)
    await reconciler.reconcile(KEY)
    assert server.patches == []
    server.engines.clear()
    await reconciler.reconcile(KEY)
    assert [patch["metadata"]["finalizers"] for patch in server.patches] == [[]]


def an_engine_of(name: str) -> Manifest:
    return {"instanceRef": "inst", "replicas": 1, "engineClassRef": name}
