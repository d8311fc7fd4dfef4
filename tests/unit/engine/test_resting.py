"""Is a resting engine left alone? As long as nothing that its pass read has changed, and not one moment longer."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.observe.metrics import NoEngineRecorder
from firebolt_operator.refs import Manifest, Ref, Resource
from firebolt_operator.runtime.resting import RestingPasses
from tests.support.manual_clock import NOON, ManualClock
from tests.support.one_engine import NAMESPACE, OneEngine, an_object

POLICY: Manifest = {"enabled": True, "activeReplicas": 2}
BUDGET: Manifest = {"maxUnavailable": 1}


class Recorder(NoEngineRecorder):
    def __init__(self) -> None:
        self.passes = 0
        self.reconciled_at: list[datetime] = []

    def record(self, engine: FireboltEngine, facts: EngineFacts | None, /) -> None:
        del engine, facts
        self.passes += 1

    def reconciled(self, engine: FireboltEngine, now: datetime, /) -> None:
        del engine
        self.reconciled_at.append(now)


@dataclass
class Resting:
    clock: ManualClock = field(default_factory=ManualClock)
    recorder: Recorder = field(default_factory=Recorder)
    one: OneEngine = field(init=False)
    passes: RestingPasses[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.one = OneEngine(clock=self.clock, recorder=self.recorder)
        reconciler = EngineReconciler(self.one.dependencies())
        self.passes = RestingPasses(reconciler.reconcile, reconciler.confirmed)

    async def begin(self, **spec: Any) -> "Resting":
        self.one.api.put(an_object(FIREBOLT_ENGINE_CLASSES, "big", {"spec": {"template": {}}, "status": FIT}))
        await self.one.come_to_rest(self.passes.run, **spec)
        await self.passes.run(self.one.key)
        return self

    async def is_left_alone(self) -> bool:
        """Whether the next pass is recognised as the last one over again."""
        before = self.recorder.passes
        await self.passes.run(self.one.key)
        return self.recorder.passes == before

    def touch(self, resource: Resource, name: str) -> None:
        """As little as can be changed: a new version, whatever is in it."""
        self.one.api.put(self.one.api.objects[Ref(resource, NAMESPACE, name)])


FIT: Manifest = {
    "observedGeneration": 1,
    "conditions": [
        {
            "type": "Ready",
            "status": "True",
            "reason": "Admissible",
            "message": "",
            "lastTransitionTime": "2026-01-01T12:00:00Z",
        }
    ],
}
READ = {
    "engine": (FIREBOLT_ENGINES, "sales"),
    "class": (FIREBOLT_ENGINE_CLASSES, "big"),
    "instance": (FIREBOLT_INSTANCES, "main"),
    "statefulset": (STATEFULSETS, "sales-g0"),
    "config": (CONFIG_MAPS, "sales-g0-config"),
    "headless service": (SERVICES, "sales-g0-hl"),
    "service": (SERVICES, "sales-service"),
    "pod": (PODS, "sales-g0-1"),
}


async def test_at_rest_nothing_is_rendered_asked_or_written() -> None:
    resting = await Resting().begin(engineClassRef="big")
    before = list(resting.one.api.requests)
    for _ in range(3):
        resting.clock.elapsed += 3600
        assert await resting.is_left_alone()
    assert resting.one.api.requests == before
    # Dashboards see that it is looked after.
    assert resting.recorder.reconciled_at[-1] == NOON + timedelta(hours=3)


@pytest.mark.parametrize("what", READ)
async def test_a_new_version_of_anything_it_reads_brings_one_pass(what: str) -> None:
    resting = await Resting().begin(engineClassRef="big")
    resting.touch(*READ[what])
    assert not await resting.is_left_alone()
    assert await resting.is_left_alone()


@pytest.mark.parametrize("what", sorted(READ.keys() - {"class", "instance", "pod"}))
async def test_a_write_without_an_answer_brings_passes_until_it_was_read_live(what: str) -> None:
    resting = await Resting().begin()
    for cache in resting.one.caches.all():
        cache.unanswered(Ref(READ[what][0], NAMESPACE, READ[what][1]))
    before = len(resting.one.api.requests)
    assert not await resting.is_left_alone()
    assert len(resting.one.api.requests) == before + 1
    # That one asked the server: the next one has to find out whether there is nothing to do.
    assert not await resting.is_left_alone()
    assert await resting.is_left_alone()


@pytest.mark.parametrize("gone", sorted(READ.keys() - {"engine", "instance", "class"}))
async def test_whatever_is_lost_is_noticed(gone: str) -> None:
    resting = await Resting().begin()
    resource, name = READ[gone]
    stored = resting.one.api.objects.pop(Ref(resource, NAMESPACE, name))
    for cache in resting.one.caches.all():
        cache.deleted(Ref(resource, NAMESPACE, name), stored["metadata"]["uid"])
    assert not await resting.is_left_alone()


async def test_a_child_that_appears_is_noticed() -> None:
    """It may be what a missed delete left behind: the sweep looks for those."""
    resting = await Resting().begin()
    known = resting.one.api.objects[Ref(CONFIG_MAPS, NAMESPACE, "sales-g0-config")]["metadata"]
    orphan = an_object(CONFIG_MAPS, "left-behind", {"data": {}})
    orphan["metadata"] |= {key: known[key] for key in ("labels", "ownerReferences")}
    resting.one.api.put(orphan)
    assert not await resting.is_left_alone()


@pytest.mark.parametrize("replicas", [0, 2])
async def test_with_auto_stop_every_pass_is_run(replicas: int) -> None:
    """Its decision depends on the time, and on what pods say."""
    resting = await Resting().begin(replicas=replicas, autoStop=POLICY)
    assert not await resting.is_left_alone()
    assert not await resting.is_left_alone()


async def test_while_pods_are_in_trouble_every_pass_is_run() -> None:
    """More is told of them the longer it lasts."""
    resting = await Resting().begin()
    resting.one.make_unready("sales-g0-1")
    for _ in range(3):  # the first of them has something to write
        assert not await resting.is_left_alone()


async def test_a_stopped_engine_is_left_alone() -> None:
    resting = await Resting().begin(replicas=0)
    assert await resting.is_left_alone()


async def test_a_budget_that_somebody_changed_is_noticed() -> None:
    resting = await Resting().begin(podDisruptionBudget=BUDGET)
    budget = next(ref for ref in resting.one.api.objects if ref.name == "sales-pdb")
    assert await resting.is_left_alone()
    resting.touch(budget.resource, budget.name)
    assert not await resting.is_left_alone()
