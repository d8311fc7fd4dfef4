"""An object that cannot be decoded: is it left alone, and does everybody else's work go on?"""

from functools import partial

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Ref, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, condition, message, reason
from tests.support.deep import with_depth, with_managed_fields
from tests.support.raw import create_raw, patch_raw

NEW_LABEL = {"metadata": {"labels": {"edited": "yes"}}}


async def make(person: Person, resource: Resource, body: bytes) -> None:
    await create_raw(person.client, resource, person.namespace, body)


async def patch(person: Person, resource: Resource, name: str, body: bytes) -> None:
    await patch_raw(person.client, Ref(resource, person.namespace, name), body)


async def make_deep_engine(person: Person, name: str, **spec: object) -> None:
    spec = {"instanceRef": "inst", "replicas": 1, **spec}
    manifest = person.manifest(FIREBOLT_ENGINES, name, spec=spec)
    await make(person, FIREBOLT_ENGINES, with_depth(manifest, "spec", "customEngineConfig"))


async def make_hostile_config_map(person: Person, engine: str) -> None:
    """It takes no right on our kinds, only a label."""
    manifest = person.manifest(CONFIG_MAPS, f"hostile-{engine}", labels={LABEL_ENGINE: engine})
    await make(person, CONFIG_MAPS, with_managed_fields(manifest))


async def delete(person: Person, resource: Resource, name: str) -> None:
    await person.kubectl("delete", resource.plural, name, "--wait=false")


async def test_given_hostile_objects_at_the_start_then_all_others_are_served_and_these_are_named(
    start_operator: StartOperator, person: Person
) -> None:
    await person.make_instance()
    await make_deep_engine(person, "deep")
    await make_hostile_config_map(person, "free")
    await person.make_engine("free")
    assert await person.is_unreadable(FIREBOLT_ENGINES, "deep")
    assert await person.is_unreadable(CONFIG_MAPS, "hostile-free")
    async with start_operator() as operator:
        await operator.until_at_rest(0, "free")
        await person.edit_engine("free", template=NEW_LABEL)
        await operator.until_at_rest(1, "free")
        await operator.sees(lambda: operator.engines.ended("deep"))
        (event,) = await person.events("Unreadable", "deep")
        assert "cannot decode this engine" in event["note"]
        assert operator.caches.engines.broken == {(person.namespace, "deep")}
        assert operator.caches.config_maps.broken == {(person.namespace, "hostile-free")}
        await operator.settled()
        assert {each.error for each in operator.engines.passes} == {""}
        assert await person.find(CONFIG_MAPS, "free-g1-config") is not None
        # Nobody sweeps what nobody can read.
        assert await person.is_unreadable(CONFIG_MAPS, "hostile-free")
        await delete(person, FIREBOLT_ENGINES, "deep")
        await operator.sees(lambda: not operator.caches.engines.broken)


async def test_given_an_engine_that_turns_unreadable_then_it_keeps_what_it_has_until_it_is_deleted(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    for name in ("eng", "free"):
        await person.make_engine(name)
        await operator.until_at_rest(0, name)
    await patch(person, FIREBOLT_ENGINES, "eng", with_depth({}, "spec", "customEngineConfig"))
    await operator.sees(lambda: operator.caches.engines.broken)
    await make_hostile_config_map(person, "eng")
    await person.edit_engine("free", template=NEW_LABEL)
    await operator.until_at_rest(1, "free")
    await operator.settled()
    assert len(await person.events("Unreadable", "eng")) == 1
    assert await person.selected_generation("eng") == "0"
    assert {each.metadata.name for each in operator.caches.statefulsets.values() if each.engine == "eng"} == {"eng-g0"}
    # It has our finalizer, so that only we can let it go.
    await delete(person, FIREBOLT_ENGINES, "eng")
    await operator.sees(lambda: not operator.caches.engines.broken)
    for resource, name in ((STATEFULSETS, "eng-g0"), (SERVICES, "eng-service"), (CONFIG_MAPS, "eng-g0-config")):
        await person.until_gone(resource, name)


async def test_given_an_unreadable_child_then_its_engine_is_stalled_and_goes_on_serving(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await patch(person, CONFIG_MAPS, "eng-g0-config", with_managed_fields({}))
    stalled = await operator.until_reason("Unreadable", "Stalled")
    assert f"ConfigMap {person.namespace}/eng-g0-config is there, but cannot be decoded" in message(stalled, "Stalled")
    assert (condition(stalled).status, reason(stalled)) == ("True", "EngineReady")
    await person.edit_engine(template=NEW_LABEL)
    await operator.next_pass()
    assert await person.is_unreadable(CONFIG_MAPS, "eng-g0-config")  # not written over
    assert operator.selected_generation() == "0"
    # An empty entry is how anybody takes all of them off.
    await person.patch(CONFIG_MAPS, "eng-g0-config", {"metadata": {"managedFields": [{}]}})
    mended = await operator.until_at_rest(1)
    assert reason(mended, "Stalled") == ""


async def test_given_an_unreadable_service_then_it_is_not_made_again(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    before = await person.read(SERVICES, "eng-service")
    await patch(person, SERVICES, "eng-service", with_managed_fields({}))
    await operator.until_reason("Unreadable", "Stalled")
    await person.patch(SERVICES, "eng-service", {"metadata": {"managedFields": [{}]}})
    await operator.until(lambda engine: reason(engine, "Stalled") == "")
    assert (await person.read(SERVICES, "eng-service"))["metadata"]["uid"] == before["metadata"]["uid"]


async def test_given_an_unreadable_pod_of_the_serving_generation_then_nothing_is_decided_without_it(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await patch(person, PODS, "eng-g0-0", with_managed_fields({}))
    stalled = await operator.until_reason("Unreadable", "Stalled")
    assert f"Pod {person.namespace}/eng-g0-0" in message(stalled, "Stalled")
    await person.edit_engine(template=NEW_LABEL)
    await operator.next_pass()
    assert operator.selected_generation() == "0"
    await person.patch(PODS, "eng-g0-0", {"metadata": {"managedFields": [{}]}})
    await operator.until_at_rest(1)


async def test_given_an_unreadable_class_then_its_engines_are_stalled_and_it_can_be_deleted(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_class("small")
    await person.make_engine(engineClassRef="small")
    await operator.until_at_rest(0)
    await patch(person, FIREBOLT_ENGINE_CLASSES, "small", with_depth({}, "spec", "customEngineConfig"))
    stalled = await operator.until_reason("Unreadable", "Stalled")
    assert f"FireboltEngineClass {person.namespace}/small" in message(stalled, "Stalled")
    await delete(person, FIREBOLT_ENGINE_CLASSES, "small")
    waits = (await operator.next_class_pass("small")).outcome
    assert waits is not None
    assert waits.reason == "deletion waits for 1 engine(s)"
    await person.edit_engine(engineClassRef=None)
    await operator.next_class_pass("small")
    await operator.sees(lambda: not operator.caches.engine_classes.broken)
    await operator.until(lambda engine: reason(engine, "Stalled") == "")


async def test_given_an_unreadable_engine_then_the_class_that_it_names_stays(
    operator: Operator, person: Person
) -> None:
    for name in ("small", "free"):
        await person.make_class(name)
        await operator.until_class(name, lambda found: bool(found.status.observed_generation))
    await make_deep_engine(person, "deep", engineClassRef="small")
    await operator.sees(lambda: operator.caches.engines.broken)
    for name in ("small", "free"):
        await delete(person, FIREBOLT_ENGINE_CLASSES, name)
    await operator.sees(lambda: operator.engine_class("free") is None)
    run = await operator.next_class_pass("small")
    assert run.outcome is not None
    assert run.outcome.reason == "deletion waits for 1 engine(s)"
    await delete(person, FIREBOLT_ENGINES, "deep")
    await operator.sees(lambda: not operator.caches.engines.broken)
    await operator.next_class_pass("small")
    await operator.sees(lambda: operator.engine_class("small") is None)


async def test_given_configs_around_what_the_decoder_takes_then_each_engine_says_so_and_no_pass_crashes(
    operator: Operator, person: Person
) -> None:
    """Where decoding, rendering and encoding give up depends on how deep they are called: nobody knows exactly."""
    await person.make_instance()
    await person.make_engine("free")
    depths = (860, 900, 920, 940, 960, 980)
    for levels in depths:
        manifest = person.manifest(FIREBOLT_ENGINES, f"eng-{levels}", spec={"instanceRef": "inst", "replicas": 1})
        await make(person, FIREBOLT_ENGINES, with_depth(manifest, "spec", "customEngineConfig", levels=levels))
    await operator.until_at_rest(0, "free")
    for levels in depths:
        await operator.sees(partial(has_been_told, operator, f"eng-{levels}"))
    assert "RecursionError" not in " ".join(each.error for each in operator.engines.passes)
    await person.edit_engine("eng-860", customEngineConfig=None)
    await operator.until_at_rest(name="eng-860")


def has_been_told(operator: Operator, name: str) -> bool:
    engine = operator.engine(name)
    if engine is not None:
        return reason(engine, "Stalled") in {"Unreadable", "TemplateRejected"}
    is_aside = (operator.namespace, name) in operator.caches.engines.broken
    return is_aside and any(each.outcome is not None for each in operator.engines.ended(name))
