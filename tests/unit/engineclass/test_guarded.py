"""What engines share, kind by kind: who guards it, who is told, and what becomes of it when nobody can read it."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.engineclass.reconcile import GuardedReconciler
from firebolt_operator.engineclass.tellers import ClassTeller, PresetTeller
from firebolt_operator.engineclass.watches import aside_guarded, guarded_changed
from firebolt_operator.kube.ports import Page, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.look_again import After, AtOnce, WhenChanged
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.guards import CLASS_GUARD, CLUSTER_CLASS_GUARD, PRESET_GUARD, Guard
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.objects import Aside, header_of
from firebolt_operator.runtime.work_queue import Priority
from tests.support.manual_clock import ManualClock

HALF_MINUTE = After(timedelta(seconds=30))
GUARDS = (CLASS_GUARD, PRESET_GUARD, CLUSTER_CLASS_GUARD)
EACH = pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.resource.kind)
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
ENGINE: Manifest = {
    "metadata": {"name": "one", "namespace": "ns"},
    "spec": {"instanceRef": "inst", "engineClassRef": "firebolt"},
}


def an_object(guard: Guard, **metadata: Any) -> bytes:
    namespace = "ns" if guard.resource.namespaced else ""
    known = {"name": "firebolt", "namespace": namespace, "uid": "u", "resourceVersion": "2", "generation": 1}
    return msgspec.json.encode({"metadata": {**known, **metadata}, "spec": {"template": {}}})


@dataclass
class World:
    guard: Guard
    engines: list[Manifest] = field(default_factory=list[Manifest])
    stored: bytes | None = None  # what the server answers; the cache knows what `knows` was told
    finalizers: list[list[str]] = field(default_factory=list[list[str]])  # as they were written
    told: list[Manifest] = field(default_factory=list[Manifest])  # statuses

    def __post_init__(self) -> None:
        caches, anything, clock = engine_caches((), ""), cast("Any", self), ManualClock()
        classes = ClassTeller(bounds=ResourceBounds(), reader=anything, writer=anything, clock=clock)
        presets = PresetTeller(reader=anything, writer=anything, clock=clock)
        kept: dict[str, tuple[Any, Any]] = {
            CLASS_GUARD.finalizer: (caches.engine_classes, classes),
            PRESET_GUARD.finalizer: (caches.presets, presets),
            CLUSTER_CLASS_GUARD.finalizer: (caches.cluster_classes, None),
        }
        self.cache, teller = kept[self.guard.finalizer]
        self.reconciler: GuardedReconciler[Any] = GuardedReconciler(
            guard=self.guard,
            objects=self.cache,
            engines=caches.engines,
            reader=anything,
            writer=anything,
            clock=clock,
            teller=teller,
        )
        self.key = ("ns" if self.guard.resource.namespaced else "", "firebolt")

    def knows(self, **metadata: Any) -> None:
        self.stored = an_object(self.guard, **metadata)
        self.cache.written(Ref(self.guard.resource, *self.key), self.stored)

    def sets_aside(self, **metadata: Any) -> None:
        self.stored = SetAside(an_object(self.guard, **metadata))
        self.cache.written(Ref(self.guard.resource, *self.key), self.stored)

    async def get_raw(self, _: Ref, /) -> bytes | None:
        return self.stored

    async def pages(self, scope: Scope, /) -> AsyncGenerator[Page]:
        found = self.engines if scope.resource.kind == "FireboltEngine" else []
        yield Page([msgspec.json.encode(each) for each in found], "9")

    async def merge_patch(self, _: Ref, patch: Manifest, /) -> Manifest:
        self.finalizers.append(patch["metadata"]["finalizers"])
        return patch

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        self.told.append(manifest["status"])
        return {**manifest, "spec": {"template": {}}}


@EACH
async def test_one_that_is_gone_is_forgotten(guard: Guard) -> None:
    outcome = await World(guard).reconciler.reconcile(World(guard).key)
    assert (outcome.reason, outcome.look_again) == ("gone", WhenChanged())


@EACH
async def test_a_new_one_is_guarded_before_anything_is_told(guard: Guard) -> None:
    world = World(guard)
    world.knows(finalizers=["example.com/theirs"])
    outcome = await world.reconciler.reconcile(world.key)
    assert (outcome.reason, outcome.look_again) == ("finalizer added", AtOnce())
    assert (world.finalizers, world.told) == ([["example.com/theirs", guard.finalizer]], [])


@EACH
async def test_one_that_is_guarded_is_judged_where_it_has_a_status(guard: Guard) -> None:
    world = World(guard)
    world.knows(finalizers=[guard.finalizer])
    outcome = await world.reconciler.reconcile(world.key)
    assert (outcome.reason, outcome.look_again, outcome.is_settled) == ("judged", HALF_MINUTE, True)
    assert (len(world.told), world.finalizers) == (0 if guard is CLUSTER_CLASS_GUARD else 1, [])


@EACH
async def test_one_in_use_stays_and_says_why_where_it_can(guard: Guard) -> None:
    world = World(guard, engines=[ENGINE])
    world.knows(finalizers=[guard.finalizer], **GOING)
    outcome = await world.reconciler.reconcile(world.key)
    assert (outcome.reason, outcome.look_again) == ("deletion waits for 1 engine(s)", HALF_MINUTE)
    assert world.finalizers == []
    said = [status["conditions"][0]["reason"] for status in world.told]
    assert said == ([] if guard is CLUSTER_CLASS_GUARD else ["DeletionBlocked"])


@EACH
async def test_one_that_nobody_uses_is_released(guard: Guard) -> None:
    world = World(guard)
    world.knows(finalizers=["example.com/theirs", guard.finalizer], **GOING)
    assert (await world.reconciler.reconcile(world.key)).reason == "released"
    assert (world.finalizers, world.told) == ([["example.com/theirs"]], [])


@EACH
async def test_one_that_only_others_hold_is_left_to_them(guard: Guard) -> None:
    world = World(guard)
    world.knows(finalizers=["example.com/theirs"], **GOING)
    assert (await world.reconciler.reconcile(world.key)).reason == "waiting for others"
    assert (world.finalizers, world.told) == ([], [])


@EACH
@pytest.mark.parametrize(
    ("is_ours", "is_going", "reason", "finalizers"),
    [
        pytest.param(True, False, "set aside: it cannot be decoded", [], id="nothing-is-written"),
        pytest.param(False, True, "set aside: it cannot be decoded", [], id="others-hold-it"),
        pytest.param(True, True, "released", [[]], id="it-can-be-deleted"),
    ],
)
async def test_one_that_cannot_be_decoded_can_at_least_be_deleted(
    guard: Guard, reason: str, finalizers: list[list[str]], *, is_ours: bool, is_going: bool
) -> None:
    world = World(guard)
    world.sets_aside(finalizers=[guard.finalizer] if is_ours else ["example.com/theirs"], **(GOING if is_going else {}))
    assert (await world.reconciler.reconcile(world.key)).reason == reason
    assert (world.finalizers, world.told) == (finalizers, [])


@EACH
async def test_one_that_cannot_be_decoded_is_kept_while_it_is_used(guard: Guard) -> None:
    world = World(guard, engines=[ENGINE])
    world.sets_aside(finalizers=[guard.finalizer], **GOING)
    assert (await world.reconciler.reconcile(world.key)).reason == "deletion waits for 1 engine(s)"
    assert (world.finalizers, world.told) == ([], [])


@EACH
async def test_one_that_could_not_be_decoded_and_is_gone_is_forgotten(guard: Guard) -> None:
    world = World(guard)
    world.sets_aside()
    world.stored = None
    assert (await world.reconciler.reconcile(world.key)).reason == "gone"


def a_preset(**metadata: Any) -> FireboltEnginePreset:
    known = {"name": "firebolt", "namespace": "ns", "uid": "u", "generation": 1, **metadata}
    return FireboltEnginePreset(metadata=msgspec.convert(known, ObjectMeta))


@pytest.mark.parametrize(
    ("change", "is_news"),
    [
        pytest.param({"generation": 2}, True, id="an-edit"),
        pytest.param(GOING, True, id="a-deletion"),
        pytest.param({"finalizers": ["x"]}, True, id="a-finalizer"),
        pytest.param({"uid": "another"}, True, id="made-anew"),
        pytest.param({"labels": {"a": "b"}, "resourceVersion": "7"}, False, id="a-label"),
    ],
)
def test_what_of_it_is_news(change: Manifest, *, is_news: bool) -> None:
    request = [(("ns", "firebolt"), Priority.EVENT)]
    assert list(guarded_changed(a_preset(), a_preset(**change))) == (request if is_news else [])
    assert list(guarded_changed(None, a_preset())) == list(guarded_changed(a_preset(), None)) == request
    assert list(guarded_changed(None, None)) == []


def test_one_that_was_set_aside_is_looked_at() -> None:
    header = header_of(an_object(PRESET_GUARD))
    assert list(aside_guarded(Aside(header=header, owners=frozenset()))) == [("ns", "firebolt")]
