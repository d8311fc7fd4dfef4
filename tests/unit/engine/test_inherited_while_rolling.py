"""Neither a class nor a preset holds up a rollout that is rendered already."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    STATEFULSETS,
)
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.refs import Manifest, Ref
from tests.support.one_engine import NAMESPACE, OneEngine, an_object

BAD: Manifest = {"template": {"spec": {"hostname": "x"}}}


def share(engine: OneEngine, kind: Any, name: str, spec: Manifest, generation: int = 1) -> None:
    shared = an_object(kind, name, {"spec": spec}, NAMESPACE)
    # Made anew, it is another object.
    shared["metadata"] |= {"generation": generation, "uid": f"{name}-{generation}"}
    engine.api.put(shared)


def found(engine: OneEngine) -> FireboltEngine:
    stored = engine.caches.engines.get(engine.key)
    assert stored is not None
    return stored


def reason(engine: OneEngine, kind: str = "Ready") -> str:
    condition = find_condition(found(engine).status.conditions, kind)
    return condition.reason if condition else ""


async def one_pass(engine: OneEngine, reconciler: EngineReconciler) -> None:
    with suppress(OperatorError):
        await reconciler.reconcile(engine.key)
    await engine.let_pods_answer()
    engine.make_pods()


async def until_phase(engine: OneEngine, reconciler: EngineReconciler, *phases: str) -> None:
    for _ in range(20):
        if found(engine).status.phase in phases:
            return
        await one_pass(engine, reconciler)
    raise AssertionError(f"still {found(engine).status.phase}: {found(engine).status}")


def lose_class(engine: OneEngine) -> None:
    ref = Ref(FIREBOLT_ENGINE_CLASSES, NAMESPACE, "big")
    gone = engine.api.objects.pop(ref)
    engine.caches.engine_classes.deleted(ref, gone["metadata"]["uid"])


def break_class(engine: OneEngine) -> None:
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", BAD, generation=2)


def break_preset(engine: OneEngine) -> None:
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", BAD, generation=2)


def make_preset_unreadable(engine: OneEngine) -> None:
    ref = Ref(FIREBOLT_ENGINE_PRESETS, NAMESPACE, "firebolt")
    stored = engine.api.objects[ref]
    metadata = stored["metadata"] | {"resourceVersion": "1000"}
    engine.caches.presets.written(ref, SetAside(msgspec.json.encode({"metadata": metadata})))


def make_class_unreadable(engine: OneEngine) -> None:
    ref = Ref(FIREBOLT_ENGINE_CLASSES, NAMESPACE, "big")
    metadata = engine.api.objects[ref]["metadata"] | {"resourceVersion": "1000"}
    engine.caches.engine_classes.written(ref, SetAside(msgspec.json.encode({"metadata": metadata})))


@pytest.mark.parametrize("phase", ["switching", "draining", "cleaning"])
@pytest.mark.parametrize(
    ("lose", "word", "kind"),
    [
        pytest.param(lose_class, "EngineClassMissing", "Stalled", id="the-class-is-gone"),
        pytest.param(break_class, "FireboltEngineClassUnready", "Ready", id="the-class-is-bad"),
        pytest.param(break_preset, "FireboltEnginePresetUnready", "Ready", id="the-preset-is-bad"),
        pytest.param(make_preset_unreadable, "Unreadable", "Stalled", id="the-preset-cannot-be-read"),
        pytest.param(make_class_unreadable, "Unreadable", "Stalled", id="the-class-cannot-be-read"),
    ],
)
async def test_a_rollout_under_way_comes_to_its_end_and_only_then_waits(
    phase: str, lose: Any, word: str, kind: str
) -> None:
    engine = OneEngine()
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", {"template": {}})
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", {"template": {}})
    await engine.come_to_rest(reconciler.reconcile, engineClassRef="big")
    engine.edit(template={"spec": {"nodeSelector": {"a": "b"}}})
    await one_pass(engine, reconciler)
    await until_phase(engine, reconciler, phase)
    lose(engine)
    await until_phase(engine, reconciler, "stable")
    assert found(engine).status.active_generation == 1
    await one_pass(engine, reconciler)
    assert reason(engine, kind) == word
    assert found(engine).status.phase == "stable"


def leave_alone(_engine: OneEngine) -> None:
    """As it is without any accident."""


def asks_for(cpu: str) -> Manifest:
    return {"template": {"spec": {"containers": [{"name": "engine", "resources": {"limits": {"cpu": cpu}}}]}}}


@pytest.mark.parametrize("phase", ["switching", "draining", "cleaning"])
@pytest.mark.parametrize(
    "lose",
    [
        pytest.param(leave_alone, id="nothing-happens"),
        pytest.param(break_preset, id="the-preset-turns-bad"),
        pytest.param(make_preset_unreadable, id="the-preset-cannot-be-read"),
    ],
)
async def test_what_a_preset_hides_of_a_class_holds_up_nobody(phase: str, lose: Any) -> None:
    engine = OneEngine(most_cpu="32")
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", asks_for("64"))
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", asks_for("8"))
    await engine.come_to_rest(reconciler.reconcile, engineClassRef="big")
    engine.edit(uiSidecar=True)
    await one_pass(engine, reconciler)
    await until_phase(engine, reconciler, phase)
    lose(engine)
    await until_phase(engine, reconciler, "stable")
    assert found(engine).status.active_generation == 1


async def test_a_class_that_asks_for_too_much_is_told_to_its_engine() -> None:
    engine = OneEngine(most_cpu="32")
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", asks_for("8"))
    await engine.come_to_rest(reconciler.reconcile, engineClassRef="big")
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", asks_for("64"), generation=2)
    await one_pass(engine, reconciler)
    assert reason(engine) == "ResourceBoundsExceeded"


async def test_a_lost_class_is_told_while_the_rollout_goes_on() -> None:
    engine = OneEngine()
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", {"template": {}})
    await engine.come_to_rest(reconciler.reconcile, engineClassRef="big")
    engine.edit(template={"spec": {"nodeSelector": {"a": "b"}}})
    await one_pass(engine, reconciler)
    await until_phase(engine, reconciler, "switching")
    lose_class(engine)
    await one_pass(engine, reconciler)
    assert reason(engine, "Stalled") == "EngineClassMissing"


async def test_the_status_names_the_preset_of_the_generation_that_serves() -> None:
    engine = OneEngine()
    reconciler = EngineReconciler(engine.dependencies())
    await engine.come_to_rest(reconciler.reconcile)
    assert found(engine).status.applied_preset_name == ""
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", {"template": {"spec": {"nodeSelector": {"a": "b"}}}})
    await one_pass(engine, reconciler)
    assert (found(engine).status.phase, found(engine).status.applied_preset_name) == ("creating", "")
    await until_phase(engine, reconciler, "draining", "cleaning", "stable")
    assert found(engine).status.applied_preset_name == "firebolt"
    assert len(found(engine).status.applied_preset_hash) == 16


def lose_statefulset(engine: OneEngine, name: str) -> Ref:
    ref = Ref(STATEFULSETS, NAMESPACE, name)
    gone = engine.api.objects.pop(ref)
    engine.caches.statefulsets.deleted(ref, gone["metadata"]["uid"])
    return ref


@pytest.mark.parametrize("lose", [lose_class, break_preset], ids=["without-its-class", "with-a-bad-preset"])
async def test_what_was_lost_on_the_way_is_not_made_again_before_all_is_there(lose: Any) -> None:
    engine = OneEngine()
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", {"template": {"spec": {"nodeSelector": {"from": "class"}}}})
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", {"template": {"spec": {"priorityClassName": "preset"}}})
    await engine.come_to_rest(reconciler.reconcile, engineClassRef="big")
    engine.edit(template={"spec": {"nodeSelector": {"a": "b"}}})
    await one_pass(engine, reconciler)
    await until_phase(engine, reconciler, "draining")
    lose(engine)
    lost = lose_statefulset(engine, "sales-g1")
    await one_pass(engine, reconciler)
    assert lost not in engine.api.objects
    assert found(engine).status.phase == "draining"
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", {"template": {"spec": {"nodeSelector": {"from": "class"}}}}, 3)
    preset: Manifest = {"template": {"spec": {"priorityClassName": "preset"}}}
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", preset, generation=3)
    await one_pass(engine, reconciler)
    made = engine.api.objects[lost]["spec"]["template"]["spec"]
    assert (made["nodeSelector"], made["priorityClassName"]) == ({"from": "class", "a": "b"}, "preset")


async def test_a_status_that_somebody_changed_names_the_preset_again() -> None:
    engine = OneEngine()
    reconciler = EngineReconciler(engine.dependencies())
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", {"template": {}})
    await engine.come_to_rest(reconciler.reconcile)
    stored = engine.api.objects[Ref(FIREBOLT_ENGINES, *engine.key)]
    engine.api.put(stored | {"status": stored["status"] | {"appliedPresetName": "", "appliedPresetHash": ""}})
    await one_pass(engine, reconciler)
    assert found(engine).status.applied_preset_name == "firebolt"
