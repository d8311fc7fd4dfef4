"""Which edits take a new generation, which do not, and what is mended in place?"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from firebolt_operator.api.names import ANNOTATION_ENGINE_CLASS_HASH, LABEL_GENERATION
from firebolt_operator.api.resources import CONFIG_MAPS, PODS, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.person import SERVING, Person, generation, serving
from tests.api.engine.running import Operator

Edit = Callable[[Person], Awaitable[object]]


def spec(**fields: Any) -> Edit:
    return lambda person: person.edit_engine(**fields)


def template(**fields: Any) -> Edit:
    return spec(template={"spec": fields})


def engine_container(**fields: Any) -> Edit:
    return template(containers=[{"name": "engine", **fields}])


def class_spec(**fields: Any) -> Edit:
    return lambda person: person.edit_class(**fields)


def others_in(resource: Resource, name: str, patch: Manifest) -> Edit:
    return lambda person: person.patch(resource, name, patch)


def statefulset(patch: Manifest) -> Edit:
    return others_in(STATEFULSETS, "eng-g0", patch)


def pod_of_statefulset(patch: Manifest) -> Edit:
    return statefulset({"spec": {"template": patch}})


async def restart(person: Person) -> None:
    await person.kubectl("rollout", "restart", "statefulset/eng-g0")


async def delete_statefulset(person: Person) -> None:
    await person.delete(STATEFULSETS, "eng-g0")


async def swap_class(person: Person) -> None:
    await person.make_class("other", template={"metadata": {"labels": {"size": "big"}}})
    await person.edit_engine(engineClassRef="other")


async def swap_for_an_equal_class(person: Person) -> Manifest:
    await person.make_class("twin", template={"metadata": {"labels": {"size": "small"}}})
    return await person.edit_engine(engineClassRef="twin")


async def move_instance(person: Person) -> None:
    await person.tell_instance({**SERVING, "metadataEndpoint": "elsewhere:7000"})


@pytest.fixture
async def resting(operator: Operator, person: Person) -> Operator:
    await person.make_instance()
    await person.make_class(template={"metadata": {"labels": {"size": "small"}}})
    config = {"logging": {"level": "info", "format": "text"}}
    await person.make_engine(engineClassRef="big", customEngineConfig=config)
    await operator.until_at_rest(0)
    return operator


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(spec(replicas=2), id="replicas"),
        pytest.param(engine_container(image="engine:2.0"), id="image"),
        pytest.param(engine_container(env=[{"name": "A", "value": "1"}]), id="environment"),
        pytest.param(engine_container(resources={"requests": {"cpu": "2"}}), id="resources"),
        pytest.param(template(tolerations=[{"key": "dedicated", "operator": "Exists"}]), id="tolerations"),
        pytest.param(template(volumes=[{"name": "scratch", "emptyDir": {}}]), id="volumes"),
        pytest.param(template(imagePullSecrets=[{"name": "registry"}]), id="pull-secrets"),
        pytest.param(template(initContainers=[{"name": "first", "image": "i:1"}]), id="init-containers"),
        pytest.param(spec(template={"metadata": {"labels": {"team": "data"}}}), id="pod-label"),
        pytest.param(spec(storage={"persistentVolumeClaim": {}}), id="storage"),
        pytest.param(spec(customEngineConfig={"logging": {"level": "debug"}}), id="custom-config"),
        pytest.param(spec(uiSidecar=True), id="ui-sidecar"),
        pytest.param(spec(metadataEndpointOverride="elsewhere:7000"), id="metadata-override"),
        pytest.param(spec(engineClassRef=None), id="class-left"),
        pytest.param(swap_class, id="class-changed-for-another"),
        pytest.param(class_spec(template={"metadata": {"labels": {"size": "big"}}}), id="class-template"),
        pytest.param(class_spec(storage={"emptyDir": {"sizeLimit": "9Gi"}}), id="class-storage"),
        pytest.param(class_spec(customEngineConfig={"engine": {"some_setting": 1}}), id="class-config"),
        pytest.param(class_spec(uiSidecar=True), id="class-ui-sidecar"),
        pytest.param(restart, id="kubectl-rollout-restart"),
        pytest.param(pod_of_statefulset({"metadata": {"labels": {"extra": "yes"}}}), id="label-on-the-live-template"),
        pytest.param(pod_of_statefulset({"spec": {"priority": 3, "serviceAccountName": "x"}}), id="live-pod-spec"),
        pytest.param(statefulset({"spec": {"replicas": 3}}), id="live-replicas"),
        pytest.param(statefulset({"metadata": {"labels": {LABEL_GENERATION: None}}}), id="live-label-removed"),
        pytest.param(
            statefulset({"metadata": {"annotations": {ANNOTATION_ENGINE_CLASS_HASH: "0"}}}), id="live-hash-changed"
        ),
        pytest.param(delete_statefulset, id="statefulset-deleted"),
    ],
)
async def test_exactly_one_new_generation(resting: Operator, person: Person, edit: Edit) -> None:
    await edit(person)
    await resting.until_at_rest(1)
    await resting.stays_at_rest(1)
    await person.until_children(serving(1))
    assert await person.selected_generation() == "1"


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(spec(template={}), id="an-empty-template"),
        pytest.param(spec(template={"metadata": {"labels": {}}, "spec": {"containers": []}}), id="empty-parts"),
        pytest.param(template(containers=[{"name": "engine"}], nodeSelector={}), id="an-engine-container-as-it-is"),
        pytest.param(spec(rollout="recreate"), id="rollout"),
        pytest.param(spec(drainCheckEnabled=False), id="drain-check"),
        pytest.param(spec(drainCheckInterval="3s", drainTimeout="1h"), id="drain-times"),
        pytest.param(
            spec(customEngineConfig={"logging": {"format": "text", "level": "info"}, "schema_version": "9"}),
            id="the-same-config-and-an-owned-path",
        ),
        pytest.param(class_spec(rollout="recreate", drainCheckEnabled=False, drainTimeout="1h"), id="class-rollout"),
        pytest.param(swap_for_an_equal_class, id="class-with-an-equal-template"),
        pytest.param(move_instance, id="instance-moved"),
        pytest.param(
            statefulset({"metadata": {"labels": {"theirs": "yes"}, "annotations": {"theirs": "yes"}}}),
            id="others-on-the-statefulset",
        ),
        pytest.param(
            others_in(CONFIG_MAPS, "eng-g0-config", {"data": {"theirs": "yes"}}),
            id="others-in-the-config-map",
        ),
        pytest.param(
            others_in(SERVICES, "eng-service", {"metadata": {"labels": {"theirs": "yes"}}}),
            id="others-on-the-service",
        ),
        pytest.param(
            others_in(PODS, "eng-g0-0", {"metadata": {"annotations": {"theirs": "yes"}}}),
            id="others-on-a-pod",
        ),
    ],
)
async def test_no_new_generation(resting: Operator, person: Person, edit: Edit) -> None:
    uid = (await person.read(PODS, "eng-g0-0"))["metadata"]["uid"]
    edited = await edit(person)
    if isinstance(edited, dict) and edited["kind"] == "FireboltEngine":
        await resting.until_done(edited)
    if isinstance(edited, dict) and edited["kind"] == "FireboltEngineClass":
        await resting.until_class_seen(edited)
    await resting.next_pass()
    await resting.stays_at_rest(0)
    assert (await person.read(PODS, "eng-g0-0"))["metadata"]["uid"] == uid
    assert await person.children() == serving(0)


async def test_a_class_edit_rolls_every_engine_of_the_class_and_no_other(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_class("big")
    await person.make_class("small")
    for name, class_name in (("one", "big"), ("two", "big"), ("other", "small")):
        await person.make_engine(name, engineClassRef=class_name)
    for name in ("one", "two", "other"):
        await operator.until_at_rest(0, name)
    await person.edit_class("big", template={"metadata": {"labels": {"edited": "yes"}}})
    for name in ("one", "two"):
        await operator.until_at_rest(1, name)
    await operator.stays_at_rest(0, "other")


@pytest.mark.parametrize(
    ("resource", "name"),
    [
        pytest.param(CONFIG_MAPS, "eng-g0-config", id="config-map"),
        pytest.param(SERVICES, "eng-g0-hl", id="headless-service"),
        pytest.param(SERVICES, "eng-service", id="engine-service"),
    ],
)
@pytest.mark.parametrize("replicas", [1, 0], ids=["stable", "stopped"])
async def test_a_deleted_object_is_restored_in_place(
    operator: Operator, person: Person, resource: Any, name: str, replicas: int
) -> None:
    await person.make_instance()
    await person.make_engine(replicas=replicas)
    await operator.until_at_rest(0)
    deleted = await person.delete(resource, name)
    uid = deleted["metadata"]["uid"]
    restored = await person.until(resource, name, lambda found: found is not None and found["metadata"]["uid"] != uid)
    assert restored is not None
    kept = ("labels", "ownerReferences")
    assert [restored["metadata"][key] for key in kept] == [deleted["metadata"][key] for key in kept]
    assert restored.get("data") == deleted.get("data")
    engine = await operator.stays_at_rest(0)
    assert engine.status.phase == ("stable" if replicas else "stopped")


@pytest.mark.parametrize("selected", ["99", None], ids=["another-generation", "no-generation"])
async def test_a_selector_that_points_elsewhere_is_repaired(
    operator: Operator, person: Person, selected: str | None
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.patch(SERVICES, "eng-service", {"spec": {"selector": {LABEL_GENERATION: selected}}})
    await person.until(
        SERVICES,
        "eng-service",
        lambda found: found is not None and found["spec"]["selector"].get(LABEL_GENERATION) == "0",
    )
    engine = await operator.stays_at_rest(0)
    assert engine.status.phase == "stable"


async def test_a_config_map_deleted_while_pods_start_comes_back(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}})
    await person.until(STATEFULSETS, "eng-g0", lambda found: found is not None)
    uid = (await person.delete(CONFIG_MAPS, "eng-g0-config"))["metadata"]["uid"]
    await person.until(
        CONFIG_MAPS, "eng-g0-config", lambda found: found is not None and found["metadata"]["uid"] != uid
    )
    assert (await operator.until_phase("creating")).status.current_generation == 0


async def test_a_statefulset_deleted_while_pods_start_is_made_again_under_its_number(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}})
    await person.until(PODS, "eng-g0-0", lambda found: found is not None)
    uid = (await person.delete(STATEFULSETS, "eng-g0"))["metadata"]["uid"]
    await person.until(STATEFULSETS, "eng-g0", lambda found: found is not None and found["metadata"]["uid"] != uid)
    assert await person.children() == serving(0)
    assert (await operator.until_phase("creating")).status.current_generation == 0


async def test_a_generation_in_use_survives_the_loss_of_the_old_one_while_it_drains(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine(rollout="graceful")
    await operator.until_at_rest(0)
    unready = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
    await person.edit_engine(template=unready)
    await person.until(PODS, "eng-g1-0", lambda pod: pod is not None and pod["status"].get("podIP"))
    await person.delete(STATEFULSETS, "eng-g0")  # the one that serves
    await person.until_gone(STATEFULSETS, "eng-g0")
    await operator.next_pass()
    assert generation(1) <= await person.children()
    await person.annotate_pod("eng-g1-0", ready=None)
    await operator.until_at_rest(1)
    await person.until_children(serving(1))
