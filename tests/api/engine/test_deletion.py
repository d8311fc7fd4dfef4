"""What becomes of an engine's objects when it is deleted, and of everybody else's?"""

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.names import FINALIZER_ENGINE, LABEL_ENGINE
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person, generation, serving
from tests.api.engine.running import Operator, condition, look_again
from tests.api.engine.strangers import KINDS, lookalike, owner_of, refused

HOLD = "example.com/hold"
HEADER = (
    "External finalizers on owned resources; the engine CR will be garbage-collected now,"
    " and the resources listed here linger until their owners remove the finalizers:"
)


async def test_all_that_an_engine_owns_goes_with_it_and_nothing_else(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2, storage={"persistentVolumeClaim": {}})
    await person.make_engine("other", replicas=0)
    await operator.until_at_rest(0)
    other = await person.read(FIREBOLT_ENGINES, "other")
    for resource in KINDS:
        await person.client.create(lookalike(person, resource, "stranger", "0"))
        await person.client.create(lookalike(person, resource, "others", "0", owner=owner_of(other)))
    secret = person.manifest(SECRETS, "stranger", labels={LABEL_ENGINE: "eng"})
    await person.client.create(secret)
    assert len(await person.names(PERSISTENT_VOLUME_CLAIMS)) == 2
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    strangers = {f"{resource.kind}/{name}" for resource in KINDS for name in ("stranger", "others")}
    await person.until_children(strangers)
    assert await person.names(SECRETS) == {"stranger"}
    assert await person.children("other") == serving(0, "other")
    await person.until_gone(PERSISTENT_VOLUME_CLAIMS, "data-eng-g0-0")
    await person.until_gone(PERSISTENT_VOLUME_CLAIMS, "data-eng-g0-1")
    assert await person.names(PODS) == set()


@pytest.mark.parametrize("phase", ["creating", "draining", "blocked"])
async def test_an_engine_can_be_deleted_in_any_state(
    operator: Operator, person: Person, scrape: ScrapeControl, phase: str
) -> None:
    await person.make_instance()
    await person.make_engine(replicas=1)
    await operator.until_at_rest(0)
    scrape.set_default(Behaviour(running=1))
    ready = "false" if phase == "creating" else "true"
    await person.edit_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": ready}}})
    await person.until(PODS, "eng-g1-0", lambda pod: pod is not None)
    if phase != "creating":
        await operator.until_phase("draining")
    if phase == "blocked":
        await person.delete(FIREBOLT_INSTANCES, "inst")
        await person.edit_engine(engineClassRef="nowhere", template={"spec": {"hostname": "x"}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    await person.until_children(set())


async def test_foreign_finalizers_are_told_and_hold_nothing_up(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    finalizers = ["example.com/backup", HOLD]
    await person.patch(STATEFULSETS, "eng-g0", {"metadata": {"finalizers": finalizers}})
    await person.patch(CONFIG_MAPS, "eng-g0-config", {"metadata": {"finalizers": [HOLD]}})
    # Somebody else holds the engine as well, so that what it says in the end can be read.
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"finalizers": [FINALIZER_ENGINE, HOLD]}})
    await operator.until(lambda engine: HOLD in engine.metadata.finalizers)
    await person.delete(FIREBOLT_ENGINES, "eng")
    engine = await operator.until(lambda engine: engine.metadata.finalizers == [HOLD])
    ready = condition(engine)
    text = f"{HEADER}\n  - StatefulSet/eng-g0: example.com/backup, {HOLD}\n  - ConfigMap/eng-g0-config: {HOLD}"
    assert (ready.status, ready.reason, ready.message) == ("False", "ExternalFinalizer", text)
    description = await person.describe()
    assert "ExternalFinalizerOnOwnedResource" in description
    assert HEADER in description
    await person.until_children({"StatefulSet/eng-g0", "ConfigMap/eng-g0-config"})
    operator.requests.seen.clear()
    run = await operator.next_pass()
    assert run.outcome is not None
    assert (run.outcome.reason, look_again(run)) == ("waiting for the finalizers of others", "never")
    assert operator.requests.seen == {}
    await person.release(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    for resource, name in ((STATEFULSETS, "eng-g0"), (CONFIG_MAPS, "eng-g0-config")):
        await person.release(resource, name)
    await person.until_children(set())


async def test_a_deleted_engine_without_our_finalizer_is_left_alone(
    start_operator: StartOperator, person: Person
) -> None:
    await person.make_engine()
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"finalizers": [HOLD]}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    async with start_operator() as operator:
        run = await operator.next_pass()
        assert (run.error, look_again(run)) == ("", "never")
        assert (await person.read(FIREBOLT_ENGINES, "eng"))["metadata"]["finalizers"] == [HOLD]
    await person.release(FIREBOLT_ENGINES, "eng")


async def test_a_long_list_of_finalizers_fits_into_an_event(operator: Operator, person: Person) -> None:
    await person.make_instance()
    engine = await person.make_engine(replicas=0)
    await operator.until_at_rest(0)
    finalizer = f"example.com/{'x' * 60}"
    for number in range(12):
        manifest = lookalike(
            person, CONFIG_MAPS, f"extra-{number}", "0", owner=owner_of(engine), finalizers=[finalizer]
        )
        await person.client.create(manifest)
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    events = await person.events("ExternalFinalizerOnOwnedResource")
    assert [(len(event["note"].encode()), event["note"][-3:]) for event in events] == [(1024, "...")]
    for number in range(12):
        await person.release(CONFIG_MAPS, f"extra-{number}")


async def test_a_delete_that_is_refused_keeps_the_engine_until_it_succeeds(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    async with refused(person, SERVICES, "DELETE"):
        await person.delete(FIREBOLT_ENGINES, "eng")
        await operator.sees(lambda: any("not now" in run.error for run in operator.engines.ended("eng")))
        run = operator.engines.ended("eng")[-1]
        assert run.error.startswith("cleanup failed with 1 errors, first: deleting Service")
        assert look_again(run) == "backoff"
        # Whatever one kind says, the others are tried.
        await person.until_children({"Service/eng-service", "Service/eng-g0-hl"})
        kept = await person.read(FIREBOLT_ENGINES, "eng")
        assert kept["metadata"]["finalizers"] == [FINALIZER_ENGINE]
    await operator.until_gone()
    await person.until_children(set())


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        pytest.param(STATEFULSETS, "eng-g0", id="statefulset"),
        pytest.param(CONFIG_MAPS, "eng-g0-config", id="config-map"),
        pytest.param(SERVICES, "eng-g0-hl", id="headless-service"),
    ],
)
async def test_an_engine_of_the_same_name_starts_beside_what_lingers_of_the_old_one(
    operator: Operator, person: Person, resource: Resource, name: str
) -> None:
    await person.make_instance()
    first = await person.make_engine()
    await operator.until_at_rest(0)
    await person.patch(resource, name, {"metadata": {"finalizers": [HOLD]}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    await person.until_children({f"{resource.kind}/{name}"})
    lingering = await person.read(resource, name)
    second = await person.make_engine()
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    await operator.until_at_rest(1)
    await person.until_children(serving(1) | {f"{resource.kind}/{name}"})
    assert (await person.read(resource, name))["metadata"]["uid"] == lingering["metadata"]["uid"]
    await person.release(resource, name)
    await person.until_children(serving(1))
    await operator.stays_at_rest(1)


async def test_an_engine_service_that_lingers_is_replaced_once_it_is_gone(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.patch(SERVICES, "eng-service", {"metadata": {"finalizers": [HOLD]}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until_gone()
    await person.until_children({"Service/eng-service"})
    second = await person.make_engine()
    blocked = await operator.until_reason("EnsureFailed")
    assert condition(blocked).message.startswith("Service eng-service belongs to FireboltEngine eng (uid ")
    await person.release(SERVICES, "eng-service")
    engine = await operator.until_at_rest(0)
    await person.until_children(serving(0))
    assert engine.metadata.uid == second["metadata"]["uid"]
    owners = (await person.read(SERVICES, "eng-service"))["metadata"]["ownerReferences"]
    assert [owner["uid"] for owner in owners] == [second["metadata"]["uid"]]


async def test_a_statefulset_of_somebody_else_under_the_next_name_is_passed_over(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    theirs: Manifest = lookalike(person, STATEFULSETS, "eng-g1", None)
    del theirs["metadata"]["labels"][LABEL_ENGINE]
    made = await person.client.create(theirs)
    await person.edit_engine(replicas=2)
    await operator.until_at_rest(2)
    await person.until_children(serving(2))
    kept = await person.read(STATEFULSETS, "eng-g1")
    assert (kept["metadata"]["uid"], kept["spec"]["replicas"]) == (made["metadata"]["uid"], 0)
    assert generation(1).isdisjoint(await person.children())
