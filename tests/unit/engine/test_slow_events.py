"""Does an engine wait for events? Neither for those that it sends nor for those of others."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.observe import diagnosis
from firebolt_operator.engine.observe.diagnosis import EventLookup
from firebolt_operator.engine.observe.metrics import EngineMetrics
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.refs import Manifest
from tests.support.manual_clock import ManualClock
from tests.support.one_engine import MemoryApi, OneEngine
from tests.support.series import series_with


@dataclass
class NoEvents(MemoryApi):
    """Takes and lists everything else; asked for events, it never answers."""

    hangs: bool = False
    never: asyncio.Event = field(default_factory=asyncio.Event)

    async def create(self, manifest: Manifest, /) -> Manifest:
        if self.hangs:
            await self.never.wait()
        return await super().create(manifest)

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        self.requests.append(f"list {scope.resource.kind} of at most {limit}")
        await self.never.wait()
        yield Page([], "1")


async def test_given_a_server_without_events_then_a_stamped_engine_gets_its_statefulset_all_the_same() -> None:
    clock = ManualClock()
    one = OneEngine(clock=clock)
    api = one.api = NoEvents(one.caches)
    reconcile = EngineReconciler(one.dependencies()).reconcile
    await one.come_to_rest(reconcile, replicas=0, autoStop={"enabled": True, "activeReplicas": 2})
    await clock.advance(600)
    api.requests.clear()
    api.hangs = True
    one.stamp()
    async with asyncio.timeout(10):
        while "apply StatefulSet sales-g1" not in api.requests:
            await reconcile(one.key)
    assert not [request for request in api.requests if request.startswith(("list", "create"))]


async def test_given_events_that_are_not_answered_then_a_lookup_ends_and_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(diagnosis, "LOOKUP_SECONDS", 0.01)
    registry = CollectorRegistry()
    lookup = EventLookup(cast("Any", NoEvents(OneEngine().caches)), EngineMetrics(registry))
    assert await lookup.warnings_of(ObjectMeta(namespace="ns", name="eng-g0", uid="uid-g0")) is None
    assert "firebolt_engine_event_lookup_errors_total 1.0" in series_with(registry, "lookup_errors_total")
