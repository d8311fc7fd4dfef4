"""What does an engine cost the API server? Every request has its reason in docs/dev/requests.md."""

from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.refs import Manifest
from tests.support.one_engine import OneEngine

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
