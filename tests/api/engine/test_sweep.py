"""Which leftovers of older generations are reclaimed, and what is never touched?"""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, look_again
from tests.api.engine.strangers import KINDS, lookalike, owner_of, refused


@pytest.fixture
async def engine(operator: Operator, person: Person) -> Manifest:
    """At rest in generation 3, with nothing left of the ones before."""
    await person.make_instance()
    await person.make_engine(replicas=0)
    await operator.until_at_rest(0)
    status = {"currentGeneration": 2, "activeGeneration": 2}
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": status}, subresource="status")
    await operator.until_attempt(2)
    await operator.next_pass()  # the StatefulSet of that number is missing, so the next one is made
    await operator.until_at_rest(3)
    await person.until_children(serving(3))
    return await person.read(FIREBOLT_ENGINES, "eng")


async def add(person: Person, resource: Resource, name: str, generation: str | None, **metadata: Any) -> None:
    await person.client.create(lookalike(person, resource, name, generation, **metadata))


@pytest.mark.parametrize("resource", KINDS, ids=lambda kind: kind.plural)
async def test_what_is_ours_and_older_goes(
    operator: Operator, person: Person, engine: Manifest, resource: Resource
) -> None:
    await add(person, resource, "leftover", "1", owner=owner_of(engine))
    await person.until_gone(resource, "leftover")
    await person.until_children(serving(3))
    await operator.stays_at_rest(3)


async def test_what_is_not_ours_or_not_older_stays(operator: Operator, person: Person, engine: Manifest) -> None:
    await person.make_engine("other", replicas=0)
    await operator.until_at_rest(0, "other")
    other = await person.read(FIREBOLT_ENGINES, "other")
    mine, theirs = {"owner": owner_of(engine)}, {"owner": owner_of(other)}
    for resource in KINDS:
        await add(person, resource, "copied-labels", "1")
        await add(person, resource, "of-another-engine", "1", **theirs)
        await add(person, resource, "not-controlled", "1", owner=owner_of(engine, is_controller=False))
        await add(person, resource, "of-this-generation", "3", **mine)
        await add(person, resource, "of-a-later-generation", "4", **mine)
        await add(person, resource, "not-a-number", "old", **mine)
        await add(person, resource, "without-a-generation", None, **mine)
    await add(person, CONFIG_MAPS, "leftover", "1", **mine)
    await person.until_gone(CONFIG_MAPS, "leftover")
    await operator.next_pass()
    found = await person.children()
    assert len(found) == len(serving(3)) + 7 * len(KINDS)
    await operator.stays_at_rest(3)


async def test_what_is_on_its_way_out_is_not_deleted_again(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    await add(person, CONFIG_MAPS, "held", "1", owner=owner_of(engine), finalizers=["example.com/hold"])
    await person.until(
        CONFIG_MAPS, "held", lambda found: found is not None and "deletionTimestamp" in found["metadata"]
    )
    await operator.stays_at_rest(3)
    await person.release(CONFIG_MAPS, "held")


async def test_it_goes_on_behind_a_closed_gate_and_after_an_error(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    await person.tell_instance({"metadataEndpoint": ""})
    await operator.until_reason("InstanceNotReady")
    await add(person, CONFIG_MAPS, "leftover", "1", owner=owner_of(engine))
    await person.until_gone(CONFIG_MAPS, "leftover")
    await person.edit_engine(engineClassRef="nowhere")
    await operator.sees(lambda: any(run.error for run in operator.engines.ended("eng")))
    await add(person, CONFIG_MAPS, "leftover", "1", owner=owner_of(engine))
    await person.until_gone(CONFIG_MAPS, "leftover")


async def test_the_generation_that_queries_are_sent_to_stays(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    # Nobody's own, so that its selector is not repaired meanwhile.
    strayed = {"metadata": {"ownerReferences": None}, "spec": {"selector": {LABEL_GENERATION: "1"}}}
    await person.patch(SERVICES, "eng-service", strayed)
    await operator.until_reason("EnsureFailed")
    mine = {"owner": owner_of(engine)}
    for generation in ("0", "1", "2"):
        await add(person, CONFIG_MAPS, f"leftover-{generation}", generation, **mine)
    for generation in ("0", "2"):
        await person.until_gone(CONFIG_MAPS, f"leftover-{generation}")
    await operator.next_pass()
    assert await person.find(CONFIG_MAPS, "leftover-1")
    await person.delete(SERVICES, "eng-service")
    await person.until_gone(CONFIG_MAPS, "leftover-1")
    await operator.stays_at_rest(3)


async def test_a_selector_of_a_later_generation_condemns_nothing(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    await person.tell_instance({"metadataEndpoint": ""})
    await operator.until_reason("InstanceNotReady")
    await person.patch(SERVICES, "eng-service", {"spec": {"selector": {LABEL_GENERATION: "99"}}})
    await add(person, CONFIG_MAPS, "later", "50", owner=owner_of(engine))
    await operator.sees(lambda: operator.caches.config_maps.get((person.namespace, "later")) is not None)
    await operator.next_pass()
    assert await person.children() == serving(3) | {"ConfigMap/later"}


async def test_a_selector_that_is_no_number_is_repaired(operator: Operator, person: Person, engine: Manifest) -> None:
    del engine
    await person.patch(SERVICES, "eng-service", {"spec": {"selector": {LABEL_GENERATION: "blue"}}})
    await person.until(
        SERVICES, "eng-service", lambda found: (found or {})["spec"]["selector"][LABEL_GENERATION] == "3"
    )
    await operator.stays_at_rest(3)


async def test_one_pass_deletes_a_hundred_and_the_rest_soon_after(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine(replicas=0)
        await operator.until_at_rest(0)
        await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
        await operator.until_at_rest(1)
    engine = await person.read(FIREBOLT_ENGINES, "eng")
    async with asyncio.TaskGroup() as group:
        for number in range(103):
            made = add(person, CONFIG_MAPS, f"leftover-{number}", "0", owner=owner_of(engine))
            group.create_task(made)
    async with start_operator() as operator:
        await operator.sees(lambda: operator.engines.ended("eng"))
        first = operator.engines.ended("eng")[0]
        assert look_again(first) == timedelta(seconds=2)
        assert operator.requests.seen["DELETE configmaps"] == 100
        await person.until_children(serving(1))


async def test_a_refused_delete_is_tried_three_times_and_holds_up_no_other_kind(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    mine = {"owner": owner_of(engine)}
    async with refused(person, SERVICES, "DELETE"):
        for number in range(5):
            await add(person, SERVICES, f"kept-{number}", "1", **mine)
        await add(person, CONFIG_MAPS, "leftover", "1", **mine)
        await person.until_gone(CONFIG_MAPS, "leftover")
        await operator.sees(lambda: len(operator.caches.services.by_index("engine", f"{person.namespace}/eng")) == 7)
        await operator.settled()
        operator.requests.seen.clear()
        run = await operator.next_pass()
        assert run.error.count("not now") == 3
        assert operator.requests.seen["DELETE services"] == 3
    await person.until_children(serving(3))
    await operator.stays_at_rest(3)


async def test_leftovers_are_found_after_a_restart(start_operator: StartOperator, person: Person) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine(replicas=0)
        await operator.until_at_rest(0)
        await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
        await operator.until_at_rest(1)
    engine = await person.read(FIREBOLT_ENGINES, "eng")
    for resource in (STATEFULSETS, SERVICES, CONFIG_MAPS):
        await add(person, resource, "leftover", "0", owner=owner_of(engine))
    async with start_operator() as operator:
        await person.until_children(serving(1))
        await operator.stays_at_rest(1)


async def test_a_status_that_contradicts_itself_stops_everything_loudly(
    operator: Operator, person: Person, engine: Manifest
) -> None:
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": {"activeGeneration": -1}}, subresource="status")
    await operator.until(lambda engine: engine.status.active_generation == -1)
    await operator.next_pass()
    await add(person, CONFIG_MAPS, "leftover", "1", owner=owner_of(engine))
    await operator.sees(lambda: operator.caches.config_maps.get((person.namespace, "leftover")) is not None)
    operator.requests.seen.clear()
    run = await operator.next_pass()
    assert (run.error.startswith("phase 'stopped' without an active generation"), look_again(run)) == (True, "backoff")
    assert operator.requests.seen == {}  # nothing is written, and nothing condemned
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": {"activeGeneration": 3}}, subresource="status")
    await person.until_gone(CONFIG_MAPS, "leftover")


async def test_a_phase_that_is_none_of_ours_ends_in_rest(operator: Operator, person: Person, engine: Manifest) -> None:
    del engine
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": {"phase": "odd"}}, subresource="status")
    await operator.until_phase("odd")
    await operator.next_pass()
    await operator.until_at_rest(3)
