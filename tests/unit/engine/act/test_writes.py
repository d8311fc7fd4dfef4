"""How is a plan carried out? In its order, each write only where it is news, each delete only of what was seen."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, SERVICES, STATEFULSETS
from firebolt_operator.engine.act.writes import Actor, delete_child
from firebolt_operator.engine.plan import AT_ONCE, Delete, Patch, Plan
from firebolt_operator.engine.views import Child
from firebolt_operator.kube.ports import Propagation
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.support.engines import NamedBlueprint, a_child, a_service, a_status


@dataclass
class Requests:
    """What the writer is asked for."""

    sent: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    async def apply(self, manifest: Manifest, /) -> Manifest:
        self.sent.append(("apply", manifest))
        return manifest

    async def merge_patch(self, ref: Ref, patch: Manifest, /) -> Manifest:
        self.sent.append(("patch", ref.name, patch))
        return patch

    async def delete(self, ref: Ref, /, *, uid: str, propagation: Propagation | None = None) -> None:
        self.sent.append(("delete", ref.name, uid, propagation))


async def carried_out(plan: Plan, *seen: Child) -> list[tuple[Any, ...]]:
    known, requests = {child.metadata.name: child for child in seen}, Requests()
    await Actor(cast("Any", requests), lambda ref: known.get(ref.name)).carry_out(plan)
    return requests.sent


def a_plan(**fields: Any) -> Plan:
    return Plan(reason="", status=a_status(), look_again=AT_ONCE, **fields)


SERVICE = NamedBlueprint().service(0)


async def test_what_is_missing_is_applied_as_it_is() -> None:
    assert await carried_out(a_plan(ensures=(SERVICE,))) == [("apply", SERVICE)]


async def test_what_says_all_of_it_already_is_left_alone() -> None:
    assert await carried_out(a_plan(ensures=(SERVICE,)), a_service(0)) == []


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(a_service(1), id="another-selector"),
        pytest.param(
            a_child("eng-service", None, spec={"selector": SERVICE["spec"]["selector"] | {"a": "b"}}), id="more"
        ),
    ],
)
async def test_what_differs_is_applied_to_that_very_object(seen: Child) -> None:
    sent = await carried_out(a_plan(ensures=(SERVICE,)), seen)
    assert sent == [("apply", {**SERVICE, "metadata": {**SERVICE["metadata"], "resourceVersion": "8"}})]
    assert "resourceVersion" not in SERVICE["metadata"]


async def test_objects_come_first_then_patches_then_deletes() -> None:
    old = a_child("eng-g0")
    plan = a_plan(
        ensures=(SERVICE,), patches=(Patch(STATEFULSETS, old, {"spec": {}}),), deletes=(Delete(CONFIG_MAPS, old),)
    )
    assert [each[0] for each in await carried_out(plan)] == ["apply", "patch", "delete"]


async def test_a_patch_is_for_that_very_object() -> None:
    patch = Patch(STATEFULSETS, a_child("eng-g0"), {"spec": {"a": 1}})
    sent = await carried_out(a_plan(patches=(patch,)))
    assert sent == [("patch", "eng-g0", {"metadata": {"uid": "uid-eng-g0"}, "spec": {"a": 1}})]


@pytest.mark.parametrize(
    ("resource", "propagation"),
    [
        pytest.param(STATEFULSETS, "Foreground", id="pods-go-before-their-statefulset"),
        pytest.param(SERVICES, None, id="service"),
        pytest.param(CONFIG_MAPS, None, id="config-map"),
    ],
)
async def test_a_delete_is_of_that_very_object(resource: Resource, propagation: Propagation | None) -> None:
    requests = Requests()
    await delete_child(cast("Any", requests), Delete(resource, a_child("eng-g0")))
    assert requests.sent == [("delete", "eng-g0", "uid-eng-g0", propagation)]


async def test_what_is_on_its_way_out_is_not_deleted_again() -> None:
    requests = Requests()
    await delete_child(cast("Any", requests), Delete(STATEFULSETS, a_child("eng-g0", deleting=True)))
    assert requests.sent == []
