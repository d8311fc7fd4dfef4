"""Engines of one class under --max-rolling, by the operator's own passes: who rolls, who waits, and what they say."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import FINALIZER_ENGINE
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.engine.decide.rolling import NEIGHBOURLY, PATIENCE
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.errors import RejectedError
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority
from tests.support.manual_clock import ManualClock
from tests.support.one_engine import NAMESPACE, OneEngine, an_object

NAMES = ("a", "b", "c", "d")
QUEUED = "waits for its turn among the engines that roll because of class apps/big; what runs goes on serving"


def a_class(version: int) -> Manifest:
    fit = {
        "type": "Ready",
        "status": "True",
        "reason": "Admissible",
        "message": "",
        "lastTransitionTime": "2026-01-01T12:00:00Z",
        "observedGeneration": version,
    }
    template = {"metadata": {"labels": {"version": str(version)}}}
    made = an_object(FIREBOLT_ENGINE_CLASSES, "big", {"spec": {"template": template}, "status": {"conditions": [fit]}})
    made["metadata"]["generation"] = version
    return made


@dataclass
class Fleet:
    """Made in no order, and passes come in no order either."""

    most: int
    clock: ManualClock = field(default_factory=ManualClock)
    engines: dict[str, OneEngine] = field(default_factory=dict[str, OneEngine])
    dependencies: EngineDependencies = field(init=False)

    async def begin(self) -> "Fleet":
        first = OneEngine("d", max_rolling=self.most, clock=self.clock)
        self.dependencies = first.dependencies()
        first.api.put(a_class(1))
        self.engines = {"d": first} | {name: first.beside(name, NAMESPACE) for name in ("b", "c", "a")}
        for one in self.engines.values():
            await one.come_to_rest(self._reconcile, engineClassRef="big")
        return self

    async def _reconcile(self, key: Key) -> Any:
        return await EngineReconciler(self.dependencies).reconcile(key)

    async def passes(self, *names: str, pods: bool = True) -> None:
        """One pass for each."""
        for name in names:
            one = self.engines[name]
            await self._reconcile(one.key)
            await one.let_pods_answer()
            if pods:
                one.make_pods()

    def edit_class(self, version: int = 2) -> None:
        self.engines["d"].api.put(a_class(version))

    def engine(self, name: str) -> FireboltEngine:
        found = self.dependencies.caches.engines.get((NAMESPACE, name))
        assert found is not None
        return found

    def rolling(self) -> list[str]:
        return [name for name in NAMES if self.engine(name).status.phase not in {"stable", "stopped"}]

    def queued(self) -> list[str]:
        return [name for name in NAMES if self.reason(name) == "Queued"]

    def reason(self, name: str) -> str:
        found = find_condition(self.engine(name).status.conditions, "Reconciling")
        return found.reason if found else ""

    def woken(self, name: str) -> list[str]:
        """Who gets a pass when that engine leaves."""
        old = self.engine(name)
        return [key[1] for key, _ in self.dependencies.rolling.changed(old, None)]


async def test_given_an_edited_class_then_as_many_roll_as_may_and_the_others_follow_by_name() -> None:
    fleet = await Fleet(most=2).begin()
    fleet.edit_class()
    await fleet.passes("d", "c", "b", "a")  # each says that it waits
    assert (fleet.rolling(), fleet.queued()) == ([], list(NAMES))
    await fleet.passes("d", "c", "b", "a")
    assert (fleet.rolling(), fleet.queued()) == (["a", "b"], ["c", "d"])
    condition = find_condition(fleet.engine("c").status.conditions, "Reconciling")
    ready = find_condition(fleet.engine("c").status.conditions, "Ready")
    assert condition is not None
    assert ready is not None
    assert (condition.message, ready.status) == (QUEUED, "True")
    seen = list[list[str]]()
    for _ in range(30):
        await fleet.passes("d", "c", "b", "a")
        seen.append(fleet.rolling())
    assert max(map(len, seen)) == 2
    assert (seen[-1], fleet.queued()) == ([], [])
    assert [fleet.engine(name).status.active_generation for name in NAMES] == [1] * 4
    assert [fleet.engine(name).status.rollout_cause for name in NAMES] == [""] * 4


async def test_given_a_class_that_cannot_start_then_it_stops_by_itself_and_is_mended_in_place() -> None:
    fleet = await Fleet(most=1).begin()
    fleet.edit_class()
    for _ in range(10):
        await fleet.passes("d", "c", "b", "a", pods=False)
    assert (fleet.rolling(), fleet.queued()) == (["a"], ["b", "c", "d"])
    fleet.edit_class(3)
    for _ in range(60):
        await fleet.passes("d", "c", "b", "a")
    assert (fleet.rolling(), fleet.queued()) == ([], [])
    assert [fleet.engine(name).status.active_generation for name in NAMES] == [2, 1, 1, 1]


async def test_given_a_namespace_that_never_gets_ready_then_its_neighbours_wait_for_half_an_hour() -> None:
    fleet = await Fleet(most=1).begin()
    fleet.edit_class()
    for _ in range(3):
        await fleet.passes("d", "c", "b", "a", pods=False)
    assert (fleet.rolling(), fleet.queued()) == (["a"], ["b", "c", "d"])
    cause, slots = fleet.engine("a").status.rollout_cause, fleet.dependencies.rolling

    def rooms() -> tuple[bool, bool]:
        return slots.has_room((NAMESPACE, "e"), cause), slots.has_room(("other", "e"), cause)

    assert rooms() == (False, False)
    await fleet.clock.advance(NEIGHBOURLY)
    await fleet.passes("d", "c", "b", pods=False)
    assert rooms() == (False, True)
    assert (fleet.rolling(), fleet.queued()) == (["a"], ["b", "c", "d"])


async def test_given_an_edit_of_the_engine_itself_then_it_waits_for_nobody_and_takes_no_place() -> None:
    fleet = await Fleet(most=1).begin()
    fleet.edit_class()
    for _ in range(3):
        await fleet.passes("d", "c", "b", "a", pods=False)
    fleet.engines["d"].edit(replicas=3)
    await fleet.passes("d", "c", pods=False)
    assert (fleet.rolling(), fleet.queued()) == (["a", "d"], ["b", "c"])
    assert (fleet.engine("d").status.rollout_cause, fleet.engine("a").status.rollout_cause) == ("", "class apps/big")
    fleet.engines["a"].edit(replicas=0)
    await fleet.passes("a", "b", pods=False)
    assert (fleet.rolling(), fleet.queued()) == (["a", "b", "d"], ["c"])


async def test_given_a_rolling_engine_that_is_deleted_then_the_next_one_is_told_and_starts() -> None:
    fleet = await Fleet(most=1).begin()
    fleet.edit_class()
    for _ in range(3):
        await fleet.passes("d", "c", "b", "a", pods=False)
    assert fleet.woken("a") == ["b"]
    assert fleet.woken("c") == ["b"]
    stored = fleet.engines["a"].api.objects.pop(Ref(FIREBOLT_ENGINES, NAMESPACE, "a"))
    fleet.dependencies.caches.engines.deleted(Ref(FIREBOLT_ENGINES, NAMESPACE, "a"), stored["metadata"]["uid"])
    assert stored["metadata"]["finalizers"] == [FINALIZER_ENGINE]
    await fleet.passes("c", "b", pods=False)
    assert fleet.engine("b").status.phase == "creating"
    assert fleet.reason("c") == "Queued"


async def test_given_a_deleted_engine_that_somebody_elses_finalizer_keeps_then_its_place_is_free() -> None:
    fleet = await Fleet(most=1).begin()
    fleet.edit_class()
    for _ in range(3):
        await fleet.passes("d", "c", "b", "a", pods=False)
    old, api = fleet.engine("a"), fleet.engines["a"].api
    stored = api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, "a")]
    gone = {"deletionTimestamp": "2026-01-01T13:00:00Z", "finalizers": ["example.com/backup"]}
    api.put(stored | {"metadata": stored["metadata"] | gone})
    assert fleet.dependencies.rolling.changed(old, fleet.engine("a")) == [((NAMESPACE, "b"), Priority.EVENT)]
    assert fleet.dependencies.rolling.changed(fleet.engine("a"), None) == ()
    await fleet.passes("c", "b", pods=False)
    assert (fleet.engine("b").status.phase, fleet.reason("c")) == ("creating", "Queued")


@pytest.mark.parametrize("gets_passes", [True, False])
async def test_given_one_that_waits_and_does_not_get_on_then_the_others_roll_after_a_minute(
    monkeypatch: pytest.MonkeyPatch, gets_passes: bool
) -> None:
    clock = ManualClock()
    fleet = await Fleet(most=1, clock=clock).begin()
    fleet.edit_class()
    await fleet.passes("d", "c", "b", "a", pods=False)
    update_status = fleet.engines["a"].api.update_status

    async def refuse_the_first(manifest: Manifest) -> Manifest:
        if manifest["metadata"]["name"] == "a":
            raise RejectedError("no", status=403)
        return await update_status(manifest)

    monkeypatch.setattr(fleet.engines["a"].api, "update_status", refuse_the_first)
    started = dict[str, float]()
    while len(started) < 3 and clock.elapsed < 3600:
        for name in NAMES if gets_passes else NAMES[1:]:
            with suppress(RejectedError):
                await fleet.passes(name)
            if fleet.engine(name).status.phase == "creating":
                started.setdefault(name, clock.elapsed)
        await clock.advance(30)
    assert list(started) == ["b", "c", "d"]
    assert started["b"] == PATIENCE  # and nobody waits for it a second time, but for a rollout of seven passes
    assert started["c"] - started["b"] == started["d"] - started["c"] == 7 * 30


async def test_given_two_passes_at_a_time_then_the_last_place_is_taken_once() -> None:
    fleet = await Fleet(most=1).begin()
    rolling = fleet.dependencies.rolling
    assert rolling.has_room((NAMESPACE, "a"), "class apps/big")
    rolling.claim((NAMESPACE, "b"), "class apps/big")
    assert not rolling.has_room((NAMESPACE, "a"), "class apps/big")
    assert rolling.has_room((NAMESPACE, "b"), "class apps/big")
    assert rolling.has_room((NAMESPACE, "a"), "class apps/small")
    rolling.release((NAMESPACE, "b"))
    assert rolling.has_room((NAMESPACE, "a"), "class apps/big")


async def test_without_a_limit_nothing_is_noted_and_all_roll_at_once() -> None:
    fleet = await Fleet(most=0).begin()
    fleet.edit_class()
    await fleet.passes("d", "c", "b", "a", pods=False)
    assert fleet.rolling() == list(NAMES)
    status = fleet.engine("a").status
    assert (status.settled_generation, status.settled_class, status.rollout_cause) == (0, "", "")


LATER_FIELDS = {"rolloutCause", "settledGeneration", "settledClass", "settledPreset"}


async def test_given_definitions_of_a_former_release_then_it_is_said_once_and_nothing_waits_or_is_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The API server drops what these do not know."""
    fleet = await Fleet(most=1).begin()
    api = fleet.engines["a"].api
    update_status, told = api.update_status, list[Manifest]()

    def pruned(manifest: Manifest) -> Manifest:
        return manifest | {"status": {k: v for k, v in manifest["status"].items() if k not in LATER_FIELDS}}

    async def prune(manifest: Manifest) -> Manifest:
        return await update_status(pruned(manifest))

    async def note(manifest: Manifest) -> Manifest:
        told.append(manifest)
        return manifest

    monkeypatch.setattr(api, "update_status", prune)
    monkeypatch.setattr(api, "create", note)
    for name in NAMES:
        api.put(pruned(api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, name)]))
    await fleet.passes(*NAMES)
    api.requests.clear()
    for _ in range(3):
        await fleet.passes(*NAMES)
    assert api.requests == []
    [warning] = told
    assert warning["reason"] == "StatusFieldsDropped"
    assert warning["note"].startswith("the API server drops status.settledClass, status.settledGeneration: its")
    fleet.edit_class()
    for _ in range(10):
        await fleet.passes(*NAMES)
    assert (fleet.queued(), fleet.rolling()) == ([], [])
    assert [fleet.engine(name).status.active_generation for name in NAMES] == [1] * 4
