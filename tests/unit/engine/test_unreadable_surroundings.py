"""An engine whose instance or class cannot be decoded goes on serving, and can be found."""

from typing import Any

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.errors import RejectedError
from firebolt_operator.refs import Manifest, Ref
from tests.support.one_engine import NAMESPACE, OneEngine, an_object

SERVICE = Ref(SERVICES, NAMESPACE, "sales-service")
PADDING = {"padding": "x" * (600 << 10)}  # more than is decoded
FIT = {"type": "Ready", "status": "True", "reason": "Fit", "message": "", "lastTransitionTime": "2026-01-01T12:00:00Z"}
CLASS: Manifest = {"spec": {"template": {}}, "status": {"conditions": [FIT | {"observedGeneration": 1}]}}


async def an_engine() -> tuple[OneEngine, EngineReconciler]:
    one = OneEngine()
    one.api.put(an_object(FIREBOLT_ENGINE_CLASSES, "big", CLASS))
    reconciler = EngineReconciler(one.dependencies())
    await one.come_to_rest(reconciler.reconcile, engineClassRef="big")
    return one, reconciler


def harm(one: OneEngine, ref: Ref) -> None:
    stored = one.api.objects[ref]
    one.api.put(stored | {"spec": stored["spec"] | PADDING})


def lose(one: OneEngine, ref: Ref) -> None:
    uid = one.api.objects.pop(ref)["metadata"]["uid"]
    for cache in one.caches.all():
        cache.deleted(ref, uid)


def stalled(one: OneEngine) -> str:
    engine = parse_engine(one.api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, "sales")])
    found = find_condition(engine.status.conditions, "Stalled")
    return found.reason if found else ""


@pytest.mark.parametrize(
    "ref", [Ref(FIREBOLT_INSTANCES, NAMESPACE, "main"), Ref(FIREBOLT_ENGINE_CLASSES, NAMESPACE, "big")], ids=str
)
async def test_given_something_unreadable_then_a_lost_service_comes_back_and_nothing_else(ref: Ref) -> None:
    one, reconciler = await an_engine()
    before = one.api.objects[SERVICE]["spec"]
    harm(one, ref)
    lose(one, SERVICE)
    lose(one, Ref(STATEFULSETS, NAMESPACE, "sales-g0"))
    one.api.requests.clear()
    outcome = await reconciler.reconcile(one.key)
    assert outcome.reason.startswith("unreadable: ")
    assert (one.api.objects[SERVICE]["spec"], stalled(one)) == (before, "Unreadable")
    assert [request for request in one.api.requests if not request.startswith("get")] == [
        "apply Service sales-service",
        "status FireboltEngine sales",
    ]


async def test_given_a_service_that_is_refused_then_the_reason_to_wait_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, reconciler = await an_engine()
    harm(one, Ref(FIREBOLT_INSTANCES, NAMESPACE, "main"))
    lose(one, SERVICE)

    async def refuse(_manifest: Manifest, /, **_how: Any) -> Manifest:
        raise RejectedError("no", status=403)

    monkeypatch.setattr(one.api, "apply", refuse)
    with pytest.raises(RejectedError):
        await reconciler.reconcile(one.key)
    assert stalled(one) == "Unreadable"
