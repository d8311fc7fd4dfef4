"""Classes of the whole cluster: who gets one, what it may say, and how long it stays."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from firebolt_operator.api.names import FINALIZER_CLUSTER_ENGINE_CLASS
from firebolt_operator.api.resources import CLUSTER_FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, STATEFULSETS
from firebolt_operator.errors import NotFoundError
from firebolt_operator.refs import Manifest, Ref
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, message, reason


def labelled(**labels: str) -> Manifest:
    return {"metadata": {"labels": labels}}


def ref(name: str) -> Ref:
    return Ref(CLUSTER_FIREBOLT_ENGINE_CLASSES, "", name)


@pytest.fixture
async def shared(person: Person) -> AsyncGenerator[str]:
    """A name that no other test has, since no namespace keeps them apart."""
    name = f"shared-{secrets.token_hex(4)}"
    yield name
    with suppress(NotFoundError):
        await person.client.merge_patch(ref(name), {"metadata": {"finalizers": None}})
        found = await person.client.get(ref(name))
        if found is not None:
            await person.client.delete(ref(name), uid=found["metadata"]["uid"])


async def until_gone(person: Person, name: str) -> None:
    await person.until_gone(CLUSTER_FIREBOLT_ENGINE_CLASSES, name)


async def source(person: Person, generation: int) -> str:
    statefulset = await person.read(STATEFULSETS, f"eng-g{generation}")
    return str(statefulset["spec"]["template"]["metadata"]["labels"]["source"])


async def test_it_is_found_edited_and_overruled(operator: Operator, person: Person, shared: str) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, labelled(source="cluster"))
    await person.make_engine(engineClassRef=shared)
    await operator.until_at_rest(0)
    assert await source(person, 0) == "cluster"
    found = await person.client.get(ref(shared))
    assert found is not None
    assert found["metadata"]["finalizers"] == [FINALIZER_CLUSTER_ENGINE_CLASS]

    await person.client.merge_patch(ref(shared), {"spec": {"template": labelled(source="edit")}})
    await operator.until_at_rest(1)
    assert await source(person, 1) == "edit"

    await person.make_class(shared, template=labelled(source="namespace"))
    await operator.until_at_rest(2)
    assert await source(person, 2) == "namespace"

    await operator.settled()
    operator.requests.seen.clear()
    await operator.next_pass()
    assert operator.requests.seen == {}, "an engine at rest asks nothing of the API server"


async def test_at_rest_it_costs_nothing(operator: Operator, person: Person, shared: str) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, labelled(a="b"))
    await person.make_engine(engineClassRef=shared)
    await operator.until_at_rest(0)
    await operator.settled()
    operator.requests.seen.clear()
    await operator.next_pass()
    assert operator.requests.seen == {}


async def test_one_that_names_what_a_namespace_may_lack_is_not_used(
    operator: Operator, person: Person, shared: str
) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, {"spec": {"serviceAccountName": "mine"}})
    await person.make_engine(engineClassRef=shared)
    blocked = await operator.until_reason("FireboltEngineClassUnready")
    assert message(blocked) == (
        f'FireboltEngineClass referenced by spec.engineClassRef is not Ready: ClusterFireboltEngineClass "{shared}":'
        " spec.template.spec.serviceAccountName: Forbidden: ClusterFireboltEngineClass is SKU-only; namespace-resolved"
        " identifiers belong on FireboltEnginePreset: serviceAccountName"
    )
    await person.client.merge_patch(ref(shared), {"spec": {"template": {"spec": {"serviceAccountName": None}}}})
    await operator.until_at_rest(0)


async def test_one_in_use_is_kept_until_its_last_engine_is_gone(
    operator: Operator, person: Person, shared: str
) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, {})
    await person.make_engine(engineClassRef=shared)
    await operator.until_at_rest(0)
    made = await person.client.get(ref(shared))
    assert made is not None
    await person.client.delete(ref(shared), uid=made["metadata"]["uid"])
    await operator.settled()
    assert await person.client.get(ref(shared)) is not None
    await person.delete(FIREBOLT_ENGINES, "eng")
    await until_gone(person, shared)


async def test_an_engine_of_a_namespace_that_nobody_watches_keeps_it_as_well(
    operator: Operator, person: Person, shared: str
) -> None:
    await person.make_cluster_class(shared, {})
    await person.until(
        CLUSTER_FIREBOLT_ENGINE_CLASSES, shared, lambda found: bool((found or {})["metadata"].get("finalizers"))
    )
    far = person.manifest(FIREBOLT_ENGINES, shared, spec={"instanceRef": "inst", "engineClassRef": shared})
    far["metadata"]["namespace"] = "default"
    made = await person.client.create(far)
    found = await person.client.get(ref(shared))
    assert found is not None
    try:
        await person.client.delete(ref(shared), uid=found["metadata"]["uid"])
        await operator.settled()
        assert await person.client.get(ref(shared)) is not None
    finally:
        await person.client.delete(Ref(FIREBOLT_ENGINES, "default", shared), uid=made["metadata"]["uid"])


async def test_one_that_is_taken_away_by_force_leaves_what_runs_alone(
    operator: Operator, person: Person, shared: str
) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, labelled(a="b"))
    await person.make_engine(engineClassRef=shared)
    await operator.until_at_rest(0)
    found = await person.client.get(ref(shared))
    assert found is not None
    await person.client.delete(ref(shared), uid=found["metadata"]["uid"])
    await person.client.merge_patch(ref(shared), {"metadata": {"finalizers": None}})
    stalled = await operator.until_reason("EngineClassMissing", "Stalled")
    assert (stalled.status.phase, stalled.status.ready_replicas, stalled.status.active_generation) == ("stable", 1, 0)
    [event] = await person.events("EngineClassMissing")
    assert f"ClusterFireboltEngineClass {shared} not found" in event["note"]
    await person.make_cluster_class(shared, labelled(a="b"))
    await operator.until_at_rest(0)


async def test_one_outside_the_selector_is_not_there(
    start_operator: StartOperator, person: Person, shared: str
) -> None:
    async with start_operator("--watch-label-selector=watched=yes") as operator:
        await person.make_cluster_class(shared, {})
        await person.make_engine(engineClassRef=shared, labels={"watched": "yes"})
        await operator.until_reason("EngineClassMissing", "Stalled")
        await person.client.merge_patch(ref(shared), {"metadata": {"labels": {"watched": "yes"}}})
        await operator.until(lambda engine: reason(engine, "Stalled") == "")


async def test_one_that_every_engine_has_another_for_may_go(operator: Operator, person: Person, shared: str) -> None:
    await person.make_instance()
    await person.make_cluster_class(shared, {})
    await person.make_class(shared)
    await person.make_engine(engineClassRef=shared)
    await operator.until_at_rest(0)
    made = await person.client.get(ref(shared))
    assert made is not None
    await person.client.delete(ref(shared), uid=made["metadata"]["uid"])
    await until_gone(person, shared)


async def test_a_class_that_is_nowhere_is_told_with_both_places(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(engineClassRef="nowhere")
    stalled = await operator.until_reason("EngineClassMissing", "Stalled")
    assert message(stalled, "Stalled") == (
        'FireboltEngineClass referenced by spec.engineClassRef not found: spec.engineClassRef "nowhere":'
        f" FireboltEngineClass {person.namespace}/nowhere not found, ClusterFireboltEngineClass nowhere not found"
    )
