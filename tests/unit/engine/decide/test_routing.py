from typing import Any

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.model import OwnerReference
from firebolt_operator.engine.decide.routing import foreign_service, service_repair, serving_generation
from firebolt_operator.engine.views import Child
from tests.support.engines import UID, NamedBlueprint, a_child, a_service, a_status

SELECTOR = {names.LABEL_ENGINE: "eng", names.LABEL_GENERATION: "3"}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(a_status(phase="creating", current_generation=2, active_generation=-1), 2, id="before-the-first"),
        pytest.param(a_status(phase="creating", current_generation=2, active_generation=1), 1, id="old-one-serves"),
        pytest.param(a_status(phase="draining", current_generation=2, active_generation=2), 2, id="new-one-serves"),
        pytest.param(a_status(phase="creating", current_generation=2, active_generation=0), 0, id="zero-is-a-number"),
    ],
)
def test_serving_generation(status: Any, expected: int) -> None:
    assert serving_generation(status) == expected


def selecting(selector: dict[str, str] | None) -> Child:
    return a_child("eng-service", None, spec={"selector": selector} if selector else {})


@pytest.mark.parametrize(
    "service",
    [
        pytest.param(None, id="missing"),
        pytest.param(selecting(None), id="selects-nothing"),
        pytest.param(selecting(SELECTOR | {names.LABEL_GENERATION: "2"}), id="another-generation"),
        pytest.param(selecting(SELECTOR | {names.LABEL_GENERATION: "blue"}), id="no-number"),
        pytest.param(selecting(SELECTOR | {names.LABEL_ENGINE: "other"}), id="another-engine"),
        pytest.param(selecting(SELECTOR | {"tier": "x"}), id="one-key-more"),
    ],
)
def test_what_selects_anything_else_is_repaired(service: Child | None) -> None:
    assert service_repair(service, NamedBlueprint(), 3) == (NamedBlueprint().service(3),)


def test_what_selects_the_generation_is_left_alone_whatever_else_somebody_added() -> None:
    service = a_child("eng-service", None, spec={"selector": SELECTOR, "ports": [{"port": 1}]})
    assert service_repair(service, NamedBlueprint(), 3) == ()


def test_given_a_label_that_we_watch_by_is_gone_then_it_is_repaired() -> None:
    unlabelled = a_service(3)
    unlabelled.metadata.labels.clear()
    assert service_repair(unlabelled, NamedBlueprint(), 3) == (NamedBlueprint().service(3),)


@pytest.mark.parametrize("service", [None, a_service(0)])
def test_nobodys_and_our_own_are_not_foreign(service: Child | None) -> None:
    assert foreign_service(service, UID) is None


def test_given_somebody_elses_then_it_is_said_whose_it_is() -> None:
    found = foreign_service(a_child("eng-service", None, owner="older-uid"), UID)
    assert found is not None
    assert (found.status, found.reason) == ("False", "EnsureFailed")
    assert found.message == (
        "Service eng-service belongs to FireboltEngine eng (uid older-uid);"
        " delete or rename it: queries find the engine under that name"
    )


def test_given_an_owner_that_controls_nothing_then_it_is_nobodys_and_not_ours() -> None:
    owner = OwnerReference(kind="FireboltEngine", name="eng", uid=UID, controller=False)
    service = a_service(0)
    service.metadata.owner_references[:] = [owner]
    found = foreign_service(service, UID)
    assert found is not None
    assert found.message.startswith("Service eng-service was not made by this operator; delete or rename it")
