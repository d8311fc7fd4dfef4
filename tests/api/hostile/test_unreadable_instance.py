"""An instance that cannot be decoded: all it has stays as it is, its owner is told, and it can be mended or deleted."""

import asyncio
from collections.abc import Callable
from typing import Final

import pytest

from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS
from firebolt_operator.api.serialise import parse_engine, parse_instance
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from tests.api.crash.living import a_life, whole_operator
from tests.api.engine.person import SECONDS, Person
from tests.api.engine.running import condition, is_at_rest, message, reason
from tests.api.instance.test_lifecycle import INVENTORY
from tests.support.deep import with_depth, with_managed_fields
from tests.support.raw import patch_raw

INSTANCE: Final = "inst"

HARM: Final = [
    pytest.param(
        with_managed_fields({}, FIREBOLT_INSTANCES.api_version),
        {"metadata": {"managedFields": [{}]}},
        id="managed-fields",
    ),
    pytest.param(
        with_depth({}, "spec", "gateway", "template", "metadata", "labels"),
        {"spec": {"gateway": {"template": None}}},
        id="spec",
    ),
]
"""What makes it unreadable, and what mends it; both are merge patches."""


async def until_engine(person: Person, wanted: Callable[[FireboltEngine], bool]) -> FireboltEngine:
    found = await person.until(FIREBOLT_ENGINES, "eng", lambda each: each is not None and wanted(parse_engine(each)))
    assert found is not None
    return parse_engine(found)


async def until_ready(person: Person) -> None:
    def is_ready(found: Manifest | None) -> bool:
        return found is not None and parse_instance(found).status.phase == "Ready"

    await person.until(FIREBOLT_INSTANCES, INSTANCE, is_ready)


async def until_told(person: Person, times: int = 1) -> list[Manifest]:
    async with asyncio.timeout(SECONDS):
        while len(told := await person.events("Unreadable", INSTANCE)) < times:  # noqa: ASYNC110 - nobody watches
            await asyncio.sleep(0.05)
    return told


async def edit_in_vain(person: Person, label: str) -> FireboltEngine:
    """Returns when the edit was heard, and refused."""
    edited = await person.edit_engine(template={"metadata": {"labels": {"edited": label}}})
    version = edited["metadata"]["generation"]
    return await until_engine(
        person,
        lambda engine: reason(engine, "Stalled") == "Unreadable" and engine.status.observed_generation == version,
    )


async def belongings(person: Person) -> dict[str, tuple[str, Manifest]]:
    """All that instance and engine have, and what is asked of each."""
    found = dict[str, tuple[str, Manifest]]()
    for resource in (*INVENTORY, PODS):
        for each in await person.client.list(Scope(resource=resource, namespace=person.namespace)):
            content = {key: value for key, value in each.items() if key not in {"metadata", "status"}}
            found[f"{resource.kind}/{each['metadata']['name']}"] = (each["metadata"]["uid"], content)
    return found


@pytest.mark.parametrize(("harm", "cure"), HARM)
async def test_given_an_unreadable_instance_then_all_it_has_stays_until_it_is_mended(
    person: Person, simulated_pods: SimulatedPods, harm: bytes, cure: Manifest
) -> None:
    kubeconfig = simulated_pods.control_plane.kubeconfig
    async with a_life(kubeconfig, person.namespace, whole_operator):
        spec: Manifest = {"metadata": {}, "gateway": {}}
        await person.client.create(person.manifest(FIREBOLT_INSTANCES, INSTANCE, spec=spec))
        await person.make_engine()
        await until_engine(person, lambda engine: is_at_rest(engine, 0))
        await until_ready(person)
        before = await belongings(person)
        await patch_raw(person.client, Ref(FIREBOLT_INSTANCES, person.namespace, INSTANCE), harm)
        (event,) = await until_told(person)
        assert "cannot decode this instance" in event["note"]
        stalled = await edit_in_vain(person, "once")
        assert f"FireboltInstance {person.namespace}/{INSTANCE} is there" in message(stalled, "Stalled")
        assert (condition(stalled).is_true, stalled.status.active_generation) == (True, 0)
    # Whoever comes next never saw it readable.
    async with a_life(kubeconfig, person.namespace, whole_operator):
        await until_told(person, times=2)
        await edit_in_vain(person, "again")
        assert await belongings(person) == before
        assert await person.is_unreadable(FIREBOLT_INSTANCES, INSTANCE)
        await person.patch(FIREBOLT_INSTANCES, INSTANCE, cure)
        await until_engine(person, lambda engine: is_at_rest(engine, 1) and reason(engine, "Stalled") == "")
        await until_ready(person)
        after = await belongings(person)
    # Besides the generation that was rolled away nothing was made anew.
    assert {name for name in before if "eng-g0" not in name and after[name][0] != before[name][0]} == set()


@pytest.mark.parametrize("harm", [pytest.param(param.values[0], id=str(param.id)) for param in HARM])
async def test_given_an_unreadable_instance_then_it_can_be_deleted_with_all_it_has(
    person: Person, simulated_pods: SimulatedPods, harm: bytes
) -> None:
    async with a_life(simulated_pods.control_plane.kubeconfig, person.namespace, whole_operator):
        spec: Manifest = {"metadata": {}, "gateway": {}}
        made = await person.client.create(person.manifest(FIREBOLT_INSTANCES, INSTANCE, spec=spec))
        await until_ready(person)
        ref = Ref(FIREBOLT_INSTANCES, person.namespace, INSTANCE)
        await patch_raw(person.client, ref, harm)
        await until_told(person)
        await person.client.delete(ref, uid=made["metadata"]["uid"])
        async with asyncio.timeout(SECONDS):
            while await person.client.get_raw(ref) is not None:  # noqa: ASYNC110 - nobody watches
                await asyncio.sleep(0.05)
        left = await belongings(person)
    assert {name for name in left if INSTANCE in name and not name.startswith("Pod/")} == set()
