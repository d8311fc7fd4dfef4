"""What does an engine cost the API server? Every request has its reason in docs/dev/requests.md."""

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.refs import Manifest, Resource
from tests.support.manual_clock import ManualClock
from tests.support.one_engine import OneEngine, an_object

TEMPLATE: Manifest = {"metadata": {"labels": {"edited": "yes"}}}


async def an_engine(**spec: object) -> tuple[OneEngine, EngineReconciler]:
    one = OneEngine()
    reconciler = EngineReconciler(one.dependencies())
    await one.come_to_rest(reconciler.reconcile, **spec)
    return one, reconciler


async def test_a_creation() -> None:
    one, _ = await an_engine()
    assert one.api.requests == [
        "status FireboltEngine sales",  # phase, generation and conditions at once
        "create Event",
        "get StatefulSet sales-g0",
        "get ConfigMap sales-g0-config",
        "get Service sales-g0-hl",
        "get Service sales-service",
        "apply ConfigMap sales-g0-config",
        "apply Service sales-g0-hl",
        "apply StatefulSet sales-g0",
        "apply Service sales-service",
        "status FireboltEngine sales",  # switching
        "status FireboltEngine sales",  # stable
        "create Event",
    ]


async def test_a_rollout() -> None:
    one, reconciler = await an_engine()
    one.api.requests.clear()
    await one.roll(reconciler.reconcile, template=TEMPLATE)
    assert one.api.requests == [
        "status FireboltEngine sales",  # creating
        "create Event",
        "get StatefulSet sales-g1",
        "get ConfigMap sales-g1-config",
        "get Service sales-g1-hl",
        "apply ConfigMap sales-g1-config",
        "apply Service sales-g1-hl",
        "apply StatefulSet sales-g1",
        "status FireboltEngine sales",  # switching
        "apply Service sales-service",
        "status FireboltEngine sales",  # draining
        "create Event",
        "scrape 9090/metrics of Pod sales-g0-0",
        "scrape 9090/metrics of Pod sales-g0-1",
        "status FireboltEngine sales",  # cleaning
        "create Event",
        "delete StatefulSet sales-g0",
        "delete Service sales-g0-hl",
        "delete ConfigMap sales-g0-config",
        "status FireboltEngine sales",  # stable
    ]


@pytest.mark.parametrize(
    ("resource", "name", "spec"),
    [
        pytest.param(FIREBOLT_ENGINE_PRESETS, "firebolt", {}, id="of-a-preset"),
        pytest.param(FIREBOLT_ENGINE_CLASSES, "big", {"engineClassRef": "big"}, id="of-a-class"),
    ],
)
async def test_a_rollout_because_of_an_edit_costs_what_any_rollout_costs(
    resource: Resource, name: str, spec: Manifest
) -> None:
    edited, reconciler = await an_engine()
    edited.api.requests.clear()
    await edited.roll(reconciler.reconcile, template=TEMPLATE)
    one = OneEngine()
    reconciler = EngineReconciler(one.dependencies())
    one.api.put(an_object(resource, name, {"spec": {"template": {}}}))
    await one.come_to_rest(reconciler.reconcile, **spec)
    one.api.requests.clear()
    one.api.put(an_object(resource, name, {"spec": {"template": TEMPLATE}}))
    await one._follow(reconciler.reconcile)
    assert one.api.requests == edited.api.requests


async def test_an_edit_of_a_preset_that_changes_no_pod_costs_nothing() -> None:
    one = OneEngine()
    reconciler = EngineReconciler(one.dependencies())
    one.api.put(an_object(FIREBOLT_ENGINE_PRESETS, "firebolt", {"spec": {"template": {}}}))
    await one.come_to_rest(reconciler.reconcile, template=TEMPLATE)
    one.api.requests.clear()
    one.api.put(an_object(FIREBOLT_ENGINE_PRESETS, "firebolt", {"spec": {"template": TEMPLATE}}))
    await one._follow(reconciler.reconcile)
    assert one.api.requests == []


async def test_a_wake() -> None:
    clock = ManualClock()
    one = OneEngine(clock=clock)
    reconcile = EngineReconciler(one.dependencies()).reconcile
    await one.come_to_rest(reconcile, replicas=0, autoStop={"enabled": True, "activeReplicas": 2})
    await clock.advance(600)
    one.api.requests.clear()
    await one.wake(reconcile)
    assert one.api.requests == [
        "patch FireboltEngine sales",  # replicas
        "status FireboltEngine sales",  # which stamp was heard
        "create Event",
        "status FireboltEngine sales",  # creating
        "create Event",
        "get StatefulSet sales-g1",
        "get ConfigMap sales-g1-config",
        "get Service sales-g1-hl",
        "apply ConfigMap sales-g1-config",
        "apply Service sales-g1-hl",
        "apply StatefulSet sales-g1",
        "status FireboltEngine sales",  # switching
        "apply Service sales-service",
        "status FireboltEngine sales",  # draining
        "create Event",
        "status FireboltEngine sales",  # cleaning
        "create Event",
        "delete StatefulSet sales-g0",
        "delete Service sales-g0-hl",
        "delete ConfigMap sales-g0-config",
        "status FireboltEngine sales",  # stable
    ]
