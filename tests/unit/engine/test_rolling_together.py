"""Engines of one class under --max-rolling, by the operator's own passes: who rolls, who waits, and what they say."""

from dataclasses import dataclass, field
from typing import Any

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import FINALIZER_ENGINE
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.objects import Key
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
    engines: dict[str, OneEngine] = field(default_factory=dict[str, OneEngine])
    dependencies: EngineDependencies = field(init=False)

    async def begin(self) -> "Fleet":
        first = OneEngine("d", max_rolling=self.most)
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
