"""Objects that somebody else made under an engine's names: never written to, and it is said whose they are."""

from typing import Any

import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, SERVICES, STATEFULSETS
from firebolt_operator.errors import ConflictError
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, generation, serving
from tests.api.engine.running import Operator, condition, look_again
from tests.api.engine.strangers import lookalike

NAMES = [
    pytest.param(STATEFULSETS, "", id="statefulset"),
    pytest.param(CONFIG_MAPS, "-config", id="config-map"),
    pytest.param(SERVICES, "-hl", id="headless-service"),
]

BOOKKEEPING = {"managedFields", "resourceVersion", "generation"}


async def make_own(person: Person, resource: Resource, name: str, **metadata: Any) -> Manifest:
    """With nothing about it that the operator watches by."""
    manifest = lookalike(person, resource, name, None, **metadata)
    del manifest["metadata"]["labels"]
    return await person.client.create(manifest)


async def assert_untouched(person: Person, resource: Resource, made: Manifest) -> None:
    found = await person.read(resource, made["metadata"]["name"])
    assert _as_made(found) == _as_made(made)


def _as_made(manifest: Manifest) -> Manifest:
    """Without what the server and its controllers write down."""
    kept = {key: value for key, value in manifest["metadata"].items() if key not in BOOKKEEPING}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": kept}


class TestTheService:
    async def test_nothing_is_made_until_its_owner_takes_it_away(self, operator: Operator, person: Person) -> None:
        made = await make_own(person, SERVICES, "eng-service")
        await person.make_instance()
        await person.make_engine()
        blocked = await operator.until_reason("EnsureFailed")
        assert condition(blocked).message.startswith("Service eng-service was not made by this operator; ")
        run = await operator.next_pass()
        assert (run.error, str(look_again(run))) == ("", "0:00:10")
        await assert_untouched(person, SERVICES, made)
        assert await person.children() == set()
        await person.delete(SERVICES, "eng-service")
        await operator.next_pass()
        await operator.until_at_rest(0)
        await person.until_children(serving(0))

    async def test_whose_it_is_is_said(self, operator: Operator, person: Person) -> None:
        await person.make_instance()
        shop = await person.client.create(person.manifest(CONFIG_MAPS, "shop"))
        uid = shop["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": uid, "controller": True}
        await make_own(person, SERVICES, "eng-service", owner=owner)
        await person.make_engine()
        blocked = await operator.until_reason("EnsureFailed")
        assert condition(blocked).message.startswith(f"Service eng-service belongs to ConfigMap shop (uid {uid}); ")

    async def test_in_the_place_of_ours_it_stays_and_the_pods_go_on(
        self, start_operator: StartOperator, person: Person
    ) -> None:
        async with start_operator() as operator:
            await person.make_instance()
            await person.make_engine()
            await operator.until_at_rest(0)
        await person.delete(SERVICES, "eng-service")
        made = await make_own(person, SERVICES, "eng-service")
        await person.edit_engine(replicas=2)
        async with start_operator() as operator:
            blocked = await operator.until_reason("EnsureFailed")
            assert (blocked.status.phase, blocked.status.ready_replicas) == ("stable", 1)
            await assert_untouched(person, SERVICES, made)
            assert await person.children() == generation(0)
            await person.delete(SERVICES, "eng-service")
            await operator.next_pass()
            await operator.until_at_rest(1)
            await person.until_children(serving(1))


@pytest.mark.parametrize(("resource", "suffix"), NAMES)
async def test_the_first_generation_takes_the_next_number(
    operator: Operator, person: Person, resource: Resource, suffix: str
) -> None:
    made = await make_own(person, resource, f"eng-g0{suffix}")
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(1)
    await person.until_children(serving(1))
    await assert_untouched(person, resource, made)
    await operator.stays_at_rest(1)


@pytest.mark.parametrize(("resource", "suffix"), NAMES)
async def test_a_rollout_takes_the_next_number(
    operator: Operator, person: Person, resource: Resource, suffix: str
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    made = await make_own(person, resource, f"eng-g1{suffix}")
    await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
    await operator.until_at_rest(2)
    await person.until_children(serving(2))
    await assert_untouched(person, resource, made)


@pytest.mark.parametrize(("resource", "suffix"), NAMES)
async def test_at_rest_one_in_the_place_of_ours_starts_the_next_number(
    start_operator: StartOperator, person: Person, resource: Resource, suffix: str
) -> None:
    async with start_operator() as operator:
        await person.make_instance()
        await person.make_engine()
        await operator.until_at_rest(0)
    await person.delete(resource, f"eng-g0{suffix}")
    await person.until_gone(resource, f"eng-g0{suffix}")
    made = await make_own(person, resource, f"eng-g0{suffix}")
    async with start_operator() as operator:
        await operator.until_at_rest(1)
        await person.until_children(serving(1))
        await assert_untouched(person, resource, made)


async def test_an_apply_meant_for_another_object_of_that_name_is_a_conflict(person: Person) -> None:
    """What keeps a cache that lags behind from taking over what somebody made a moment ago."""
    ours = await make_own(person, CONFIG_MAPS, "eng-g0-config")
    manifest = person.manifest(CONFIG_MAPS, "eng-g0-config", data={"config.yaml": "ours"})
    manifest["metadata"]["resourceVersion"] = ours["metadata"]["resourceVersion"]
    ref = Ref(CONFIG_MAPS, person.namespace, "eng-g0-config")
    await person.client.delete(ref, uid=ours["metadata"]["uid"])
    theirs = await make_own(person, CONFIG_MAPS, "eng-g0-config")
    with pytest.raises(ConflictError):
        await person.client.apply(manifest)
    await assert_untouched(person, CONFIG_MAPS, theirs)
