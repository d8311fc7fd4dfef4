"""Objects that somebody deletes or edits in the middle of a rollout: made again, and nothing else is lost for them."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, PODS, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import SERVING, Person, generation, serving
from tests.api.engine.running import Operator, condition, reason

NEW_LABEL: Manifest = {"metadata": {"labels": {"edited": "yes"}}}
UNREADY: Manifest = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}


async def start_creating(operator: Operator, person: Person) -> None:
    """Generation 0 serves, generation 1 is not ready."""
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.edit_engine(template=UNREADY)
    await operator.sees(lambda: operator.caches.pods.get((person.namespace, "eng-g1-0")))


async def start_draining(operator: Operator, person: Person, scrape: ScrapeControl, **spec: Any) -> None:
    """Generation 1 serves, generation 0 has queries still."""
    await person.make_instance()
    await person.make_engine(**spec)
    await operator.until_at_rest(0)
    scrape.set_default(Behaviour(running=1))
    await person.edit_engine(template=NEW_LABEL)
    await operator.until_phase("draining")


async def until_routed(person: Person, number: int) -> None:
    def selects(found: Manifest | None) -> bool:
        return found is not None and found["spec"]["selector"].get(LABEL_GENERATION) == str(number)

    await person.until(SERVICES, "eng-service", selects)


async def until_made_again(person: Person, resource: Resource, lost: Manifest) -> None:
    uid, name = lost["metadata"]["uid"], lost["metadata"]["name"]
    await person.until(resource, name, lambda found: found is not None and found["metadata"]["uid"] != uid)


def instance_of(operator: Operator) -> FireboltInstance:
    found = operator.caches.instances.get((operator.namespace, "inst"))
    assert found is not None
    return found


class TestTheService:
    async def test_deleted_while_creating_it_comes_back_for_the_generation_that_serves(
        self, operator: Operator, person: Person
    ) -> None:
        await start_creating(operator, person)
        await until_made_again(person, SERVICES, await person.delete(SERVICES, "eng-service"))
        assert await person.selected_generation() == "0"

    async def test_edited_while_creating_it_is_led_back(self, operator: Operator, person: Person) -> None:
        await start_creating(operator, person)
        await person.patch(SERVICES, "eng-service", {"spec": {"selector": {LABEL_GENERATION: "1"}}})
        await until_routed(person, 0)

    async def test_deleted_while_draining_it_comes_back(
        self, operator: Operator, person: Person, scrape: ScrapeControl
    ) -> None:
        await start_draining(operator, person, scrape)
        await until_made_again(person, SERVICES, await person.delete(SERVICES, "eng-service"))
        assert await person.selected_generation() == "1"
        assert (await operator.until_phase("draining")).status.draining_generation == 0

    @pytest.mark.parametrize("phase", ["switching", "cleaning"])
    async def test_deleted_in_a_short_phase_it_comes_back(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl, phase: str
    ) -> None:
        async with start_operator() as operator:
            await start_draining(operator, person, scrape)
        status: Manifest = {"phase": phase}
        if phase == "switching":
            status |= {"activeGeneration": 0, "drainingGeneration": None}
        await person.patch(FIREBOLT_ENGINES, "eng", {"status": status}, subresource="status")
        lost = await person.delete(SERVICES, "eng-service")
        scrape.set_default(Behaviour())
        async with start_operator() as operator:
            await operator.until_at_rest(1)
            await until_made_again(person, SERVICES, lost)
            await until_routed(person, 1)
            await person.until_children(serving(1))

    @pytest.mark.parametrize("gate", ["instance", "class", "template"])
    async def test_deleted_behind_a_closed_gate_it_comes_back(
        self, operator: Operator, person: Person, gate: str
    ) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        match gate:
            case "instance":
                await person.tell_instance({"metadataEndpoint": ""})
                await operator.until_reason("InstanceNotReady")
            case "class":
                await person.edit_engine(engineClassRef="nobody")
                await operator.until(lambda engine: reason(engine, "Stalled") == "EngineClassMissing")
            case _:
                await person.edit_engine(template={"spec": {"hostname": "mine"}})
                await operator.until_reason("TemplateRejected")
        for name in ("eng-service", "eng-g0-hl"):
            await until_made_again(person, SERVICES, await person.delete(SERVICES, name))
        assert await person.selected_generation() == "0"
        assert await person.children() == serving(0)

    async def test_deleted_while_kubernetes_refuses_the_new_generation_it_comes_back(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        refused: Manifest = {"spec": {"containers": [{"name": "Not A Name", "image": "x"}]}}
        await person.edit_engine(template=refused)
        await operator.until_reason("TemplateRejected")
        await until_made_again(person, SERVICES, await person.delete(SERVICES, "eng-service"))
        assert await person.selected_generation() == "0"

    async def test_with_one_key_more_in_its_selector_it_would_lead_nowhere(
        self, operator: Operator, person: Person
    ) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.patch(SERVICES, "eng-service", {"spec": {"selector": {"colour": "blue"}}})
        await person.until(
            SERVICES, "eng-service", lambda found: found is not None and "colour" not in found["spec"]["selector"]
        )
        await operator.stays_at_rest(0)

    async def test_without_its_label_it_is_labelled_again(self, operator: Operator, person: Person) -> None:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.patch(SERVICES, "eng-service", {"metadata": {"labels": None}})
        await person.until_children(serving(0))
        await operator.stays_at_rest(0)


class TestDraining:
    async def test_the_old_generation_stays_until_the_new_one_is_made_again(
        self, operator: Operator, person: Person, scrape: ScrapeControl
    ) -> None:
        await start_draining(operator, person, scrape)
        lost = {
            resource: await person.delete(resource, name)
            for resource, name in ((CONFIG_MAPS, "eng-g1-config"), (SERVICES, "eng-g1-hl"), (STATEFULSETS, "eng-g1"))
        }
        for resource, each in lost.items():
            await until_made_again(person, resource, each)
        assert await person.children() == serving(1) | generation(0)
        scrape.set_default(Behaviour())
        await operator.until_at_rest(1)
        await person.until_children(serving(1))
        await operator.stays_at_rest(1)

    async def test_it_does_not_end_before_a_pod_is_ready_not_even_by_its_timeout(
        self, start_operator: StartOperator, person: Person, scrape: ScrapeControl
    ) -> None:
        async with start_operator("--drain-settle=1h") as operator:
            await start_draining(operator, person, scrape, drainTimeout="10m")
            await person.annotate_pod("eng-g1-0", fault="CrashLoopBackOff")
            await operator.sees(lambda: not operator.pod("eng-g1-0").is_ready)
            operator.clock.skip(timedelta(minutes=20))
            run = await operator.next_pass()
            assert run.outcome is not None
            assert run.outcome.reason == "generation 1 has no ready pod, so the old generation stays"
            assert await person.children() == serving(1) | generation(0)
            rolling = await operator.until_reason("Rolling")
            assert condition(rolling).message.endswith("generation 1 has no ready pod, so the old generation stays")
            await person.annotate_pod("eng-g1-0", fault=None)
            await operator.until_at_rest(1)
            await person.until_children(serving(1))

    async def test_without_an_instance_nothing_is_made_again_until_it_is_back(
        self, operator: Operator, person: Person, scrape: ScrapeControl
    ) -> None:
        await start_draining(operator, person, scrape)
        await person.tell_instance({"metadataEndpoint": ""})
        await operator.sees(lambda: not instance_of(operator).status.metadata_endpoint)
        lost = await person.delete(STATEFULSETS, "eng-g1")
        await person.until_gone(PODS, "eng-g1-0")
        scrape.set_default(Behaviour())
        run = await operator.next_pass()
        assert run.outcome is not None
        assert run.outcome.reason.endswith('FireboltInstance "inst" has no metadata endpoint yet')
        assert await person.find(STATEFULSETS, "eng-g1") is None
        assert await person.find(STATEFULSETS, "eng-g0") is not None
        await person.tell_instance(SERVING)
        await until_made_again(person, STATEFULSETS, lost)
        await operator.until_at_rest(1)

    async def test_an_edit_ends_the_wait_and_becomes_the_generation_after_it(
        self, operator: Operator, person: Person, scrape: ScrapeControl
    ) -> None:
        await start_draining(operator, person, scrape)
        await person.annotate_pod("eng-g1-0", fault="CrashLoopBackOff")
        await operator.sees(lambda: not operator.pod("eng-g1-0").is_ready)
        await operator.settled()  # no pass is left that saw it ready
        scrape.set_default(Behaviour())
        await operator.next_pass()
        assert (await operator.until_phase("draining")).status.current_generation == 1
        await person.edit_engine(template={"metadata": {"labels": {"edited": "again"}}})
        await operator.until_at_rest(2)
        await person.until_children(serving(2))


async def test_a_switch_whose_generation_is_lost_goes_back_to_the_one_that_serves(
    start_operator: StartOperator, person: Person, scrape: ScrapeControl
) -> None:
    async with start_operator() as operator:
        await start_draining(operator, person, scrape)
    # As a process leaves it that dies right after it has pointed queries at the new generation.
    status = {"phase": "switching", "activeGeneration": 0, "drainingGeneration": None}
    await person.patch(FIREBOLT_ENGINES, "eng", {"status": status}, subresource="status")
    lost = await person.delete(STATEFULSETS, "eng-g1")
    await person.until_gone(PODS, "eng-g1-0")
    async with start_operator() as operator:
        await operator.sees(lambda: operator.engines.ended("eng"))
        first = operator.engines.ended("eng")[0].outcome
        assert first is not None
        assert first.reason == "the new generation was lost before it served"
        await until_made_again(person, STATEFULSETS, lost)
        scrape.set_default(Behaviour())
        await operator.until_at_rest(1)
        await person.until_children(serving(1))
