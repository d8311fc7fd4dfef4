"""What goes on while no replica serves?"""

import http.client
import json
from collections.abc import Iterator

import pytest

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, FINALIZER_ENGINE_CLASS
from firebolt_operator.refs import Manifest
from tests.api.admission.place import Place, engine, engine_class, instance

STAMP: Manifest = {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: "2026-01-01T00:00:00Z"}}}
FINALIZER: Manifest = {"metadata": {"finalizers": ["example.com/mine"]}}
NO_FINALIZER: Manifest = {"metadata": {"finalizers": None}}
LABEL: Manifest = {"metadata": {"labels": {"team": "data"}}}
OTHER_LABEL: Manifest = {"metadata": {"labels": {"stage": "x"}}}
REPLICAS: Manifest = {"spec": {"replicas": 1}}
ENGINE, CLASS, INSTANCE = "FireboltEngine", "FireboltEngineClass", "FireboltInstance"
UNASKED = "failed calling webhook"


@pytest.fixture(scope="module")
def alone(place: Place) -> Iterator[Place]:
    """Everything was made while the operator was there; now it is gone, in the middle of two deletions."""
    for name in ("stamped", "ours", "leaving", "gone"):
        place.made(engine(name))
        assert place.patch(ENGINE, name, FINALIZER)[0] == http.client.OK
    for name in ("kept", "leaving"):
        place.made(engine_class(name))
    place.made(instance("kept"))
    place.stop()
    for kind in (ENGINE, CLASS):
        # Nobody is asked about an engine; about a class somebody must be.
        expected = http.client.OK if kind == ENGINE else http.client.INTERNAL_SERVER_ERROR
        assert place.delete(kind, "leaving")[0] == expected
    yield place
    place.start()
    code, answer = place.create(engine("after"))
    assert code == http.client.CREATED, answer
    # The namespace is shared: what stays held here could never be deleted by the tests of another file.
    for name in ("stamped", "ours"):
        assert place.patch(ENGINE, name, NO_FINALIZER)[0] == http.client.OK


def refused(answer: tuple[int, str]) -> bool:
    """Fails closed, in words that say why."""
    code, text = answer
    return code == http.client.INTERNAL_SERVER_ERROR and UNASKED in text


@pytest.mark.parametrize("change", [STAMP, LABEL, FINALIZER, NO_FINALIZER], ids=["wake", "label", "hold", "release"])
def test_a_person_writes_all_but_the_spec(alone: Place, change: Manifest) -> None:
    for kind, name in ((ENGINE, "stamped"), (CLASS, "kept"), (INSTANCE, "kept")):
        code, answer = alone.patch(kind, name, change)
        assert code == http.client.OK, answer


def test_a_person_makes_and_changes_nothing(alone: Place) -> None:
    assert refused(alone.patch(ENGINE, "stamped", REPLICAS))
    assert refused(alone.patch(ENGINE, "stamped", REPLICAS, "scale"))
    assert refused(alone.patch(CLASS, "kept", {"spec": {"rollout": "recreate"}}))
    assert refused(alone.patch(INSTANCE, "kept", {"spec": {"gateway": {"replicas": 3}}}))
    assert all(map(refused, map(alone.create, (engine("new"), engine_class("new"), instance("new")))))
    assert refused(alone.delete(CLASS, "kept"))


def test_status_is_written_by_whoever_may(alone: Place) -> None:
    status = {"currentGeneration": 0, "activeGeneration": -1, "phase": "creating"}
    assert alone.patch(ENGINE, "stamped", {"status": status}, "status")[0] == http.client.OK
    assert alone.patch(INSTANCE, "kept", {"status": {"phase": "Ready"}}, "status")[0] == http.client.OK
    assert alone.patch(CLASS, "kept", {"status": {"boundEngines": 1}}, "status")[0] == http.client.OK


def test_a_gateway_wakes_and_does_nothing_else(alone: Place) -> None:
    gateway = alone.as_account("inst-gateway")
    assert gateway.patch(ENGINE, "stamped", STAMP)[0] == http.client.OK
    assert alone.patch(ENGINE, "stamped", FINALIZER)[0] == http.client.OK
    others = ({"metadata": {"labels": {"other": "x"}}}, {"metadata": {"annotations": {"other": "x"}}})
    for change in (NO_FINALIZER, REPLICAS, *others):
        assert refused(gateway.patch(ENGINE, "stamped", change)), change
    both = {"metadata": {"annotations": {**STAMP["metadata"]["annotations"], "other": "x"}}}
    assert refused(gateway.patch(ENGINE, "stamped", both))


def test_any_other_account_of_the_namespace_may_be_a_gateway_too(alone: Place) -> None:
    neighbour = alone.as_account("deployer")
    assert neighbour.patch(ENGINE, "stamped", STAMP)[0] == http.client.OK
    assert refused(neighbour.patch(ENGINE, "stamped", OTHER_LABEL))
    assert neighbour.patch(INSTANCE, "kept", OTHER_LABEL)[0] == http.client.OK


def test_the_operator_does_as_it_must(alone: Place) -> None:
    """A replica that cannot serve webhooks may still lead."""
    operator = alone.as_account(alone.namespace)
    for change in (REPLICAS, STAMP, FINALIZER, NO_FINALIZER):
        assert operator.patch(ENGINE, "ours", change)[0] == http.client.OK
    assert operator.patch(CLASS, "kept", {"metadata": {"finalizers": [FINALIZER_ENGINE_CLASS]}})[0] == http.client.OK
    assert operator.patch(INSTANCE, "kept", {"spec": {"gateway": {"replicas": 3}}})[0] == http.client.OK


def test_deletions_go_on(alone: Place) -> None:
    leaving = alone.found(ENGINE, "leaving")
    assert leaving is not None
    assert "deletionTimestamp" in leaving["metadata"]
    for writer in (alone, alone.as_account(alone.namespace)):
        name = "gone" if writer is alone else "leaving"
        assert writer.delete(ENGINE, name)[0] == http.client.OK
        assert writer.patch(ENGINE, name, NO_FINALIZER)[0] == http.client.OK
        assert alone.found(ENGINE, name) is None


def test_nobody_else_is_asked(alone: Place) -> None:
    """Namespaces that this operator does not look after are none of its business."""
    code, answer = alone.plane.http.text(
        "POST", alone.path(ENGINE).replace(alone.namespace, "default") + "?dryRun=All", json.dumps(engine("new"))
    )
    assert code == http.client.CREATED, answer
