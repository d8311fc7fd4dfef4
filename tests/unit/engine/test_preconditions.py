"""What keeps an engine from being rendered is told: in a condition, and once in an event."""

from contextlib import suppress
from typing import Any

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS, STATEFULSETS
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.errors import OperatorError
from firebolt_operator.refs import Manifest
from tests.support.one_engine import NAMESPACE, OneEngine, an_object

SECRET_VOLUME: Manifest = {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "other-g1-engine-tls"}}]}}
SECRET_VARIABLE: Manifest = {
    "spec": {"initContainers": [{"name": "i", "envFrom": [{"secretRef": {"name": "other-g1-engine-tls"}}]}]}
}
HOSTNAME: Manifest = {"spec": {"hostname": "x"}}


def found(engine: OneEngine) -> FireboltEngine:
    stored = engine.caches.engines.get(engine.key)
    assert stored is not None
    return stored


def told(engine: OneEngine, kind: str) -> tuple[str, str]:
    condition = find_condition(found(engine).status.conditions, kind)
    return (condition.reason, condition.message) if condition else ("", "")


def notes(engine: OneEngine, reason: str) -> list[str]:
    return [each["note"] for each in engine.api.events if each["reason"] == reason]


async def passes(engine: OneEngine, count: int = 3) -> OneEngine:
    reconciler = EngineReconciler(engine.dependencies())
    for _ in range(count):
        with suppress(OperatorError):
            await reconciler.reconcile(engine.key)
        await engine.let_pods_answer()
    return engine


def is_rendered(engine: OneEngine) -> bool:
    return any(ref.resource == STATEFULSETS for ref in engine.api.objects)


def share(engine: OneEngine, kind: Any, name: str, template: Manifest) -> None:
    engine.api.put(an_object(kind, name, {"spec": {"template": template}}, NAMESPACE))


async def test_a_class_that_is_missing_is_told_once_in_an_event() -> None:
    engine = OneEngine()
    engine.begin(engineClassRef="big")
    await passes(engine)
    reason, message = told(engine, "Stalled")
    assert (reason, is_rendered(engine)) == ("EngineClassMissing", False)
    assert notes(engine, "EngineClassMissing") == [message]


async def test_a_missing_class_hides_nothing_else_that_is_wrong() -> None:
    engine = OneEngine()
    engine.begin(engineClassRef="big", drainTimeout="soon")
    await passes(engine)
    reason, message = told(engine, "Stalled")
    assert reason == "EngineClassMissing"
    missing, _, duration = message.partition("; ")
    assert "ClusterFireboltEngineClass big not found" in missing
    assert "drainTimeout" in duration


@pytest.mark.parametrize(
    ("own", "of_class", "of_preset", "reason", "words"),
    [
        pytest.param(HOSTNAME, {}, {}, "TemplateRejected", "spec.template.spec.hostname", id="its-own-template"),
        pytest.param({}, HOSTNAME, {}, "FireboltEngineClassUnready", "spec.template.spec.hostname", id="its-class"),
        pytest.param({}, {}, HOSTNAME, "FireboltEnginePresetUnready", "spec.template.spec.hostname", id="its-preset"),
        pytest.param(
            {},
            SECRET_VARIABLE,
            {},
            "TemplateRejected",
            "spec.engineClassRef.template.spec.initContainers[0]",
            id="a-secret-of-its-class",
        ),
        pytest.param(
            {},
            {},
            SECRET_VARIABLE,
            "TemplateRejected",
            "FireboltEnginePreset[firebolt].spec.template.spec.initContainers[0]",
            id="a-secret-of-its-preset",
        ),
    ],
)
async def test_each_gate_keeps_it_from_being_rendered(
    own: Manifest, of_class: Manifest, of_preset: Manifest, reason: str, words: str
) -> None:
    engine = OneEngine()
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", of_class)
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", of_preset)
    engine.begin(engineClassRef="big", template=own)
    await passes(engine)
    found_reason, message = told(engine, "Ready")
    assert (found_reason, words in message, is_rendered(engine)) == (reason, True, False)


@pytest.mark.parametrize("layer", ["engine", "class", "preset"])
async def test_a_volume_that_is_left_out_is_told_with_its_path_in_whichever_layer(layer: str) -> None:
    engine = OneEngine()
    own = {"engine": SECRET_VOLUME}.get(layer, {})
    share(engine, FIREBOLT_ENGINE_CLASSES, "big", SECRET_VOLUME if layer == "class" else {})
    share(engine, FIREBOLT_ENGINE_PRESETS, "firebolt", SECRET_VOLUME if layer == "preset" else {})
    engine.begin(engineClassRef="big", template=own)
    await passes(engine)
    path = {
        "engine": "spec.template.spec.volumes[0]",
        "class": "spec.engineClassRef.template.spec.volumes[0]",
        "preset": "FireboltEnginePreset[firebolt].spec.template.spec.volumes[0]",
    }[layer]
    assert is_rendered(engine)
    [note] = notes(engine, "SecretAliasVolumeDropped")
    assert note.startswith(
        f"template volumes reaching operator-managed Secrets were dropped from the rendered pod: {path}: Forbidden"
    )


@pytest.mark.parametrize(("replicas", "expected"), [(1000, True), (1001, False)])
async def test_no_more_nodes_are_rendered_than_are_allowed(replicas: int, *, expected: bool) -> None:
    engine = OneEngine()
    engine.begin(replicas=replicas)
    await passes(engine)
    assert is_rendered(engine) is expected
