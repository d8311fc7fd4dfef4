"""An id in upper case is rewritten once every image takes it, and nothing else is done for it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yaml

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import MERGE_PATCH
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import CONDITION_INSTANCE_ID_CANONICAL
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
)
from firebolt_operator.manifests.releases import FLOOR
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator, running_operator

ID = "01JZ8E3F9V7Q0K2M4N6P8R0T2W"
OLD, NEW = "image:release-4.9.0", f"image:{FLOOR}"


def template(container: str, image: str) -> Manifest:
    return {"spec": {"containers": [{"name": container, "image": image}]}}


def said(instance: FireboltInstance) -> str:
    found = find_condition(instance.status.conditions, CONDITION_INSTANCE_ID_CANONICAL)
    return f"{found.reason}: {found.message}" if found else ""


async def make(person: Person, resource: Resource, name: str, **spec: Any) -> None:
    metadata = {"name": name} | ({"namespace": person.namespace} if resource.namespaced else {})
    await person.client.create(
        {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
    )


async def test_it_waits_for_the_last_image_and_then_metadata_restarts_once(operator: Operator, person: Person) -> None:
    await make(person, FIREBOLT_ENGINE_CLASSES, "shared", template=template("engine", NEW))
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", engineClassRef="shared")
    await make(person, FIREBOLT_ENGINES, "parked", instanceRef="inst", replicas=0, template=template("engine", OLD))
    await person.make_instance(id=ID, metadata={"template": template("metadata", OLD)})
    ready = await operator.until_ready()
    assert said(ready).startswith(
        f'ImageBelowFloor: spec.id is an uppercase Crockford ULID; metadata image "{OLD}" is older than the'
    )
    await person.patch_instance({"spec": {"metadata": {"template": template("metadata", NEW)}}})
    await operator.until(lambda found: f'engine "parked" image "{OLD}"' in said(found))
    await operator.until_ready()
    before = await person.read(DEPLOYMENTS, "inst-metadata")

    await person.patch(FIREBOLT_ENGINES, "parked", {"spec": {"template": template("engine", NEW)}})
    done = await operator.until(lambda found: found.spec.id == ID.lower() and said(found).startswith("Canonical"))
    assert said(done) == "Canonical: spec.id is a lowercase Crockford ULID"
    done = await operator.until(lambda found: found.status.instance_id == ID.lower())
    assert done.status.phase != "Failed"
    config = await person.read(CONFIG_MAPS, "inst-metadata-config")
    assert ID.lower() in config["data"]["config.xml"]
    await operator.until_ready()
    await operator.settled()
    after = await person.read(DEPLOYMENTS, "inst-metadata")
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1


@pytest.mark.parametrize(
    "resource",
    [FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS, CLUSTER_FIREBOLT_ENGINE_CLASSES],
    ids=["class", "preset", "class-of-the-cluster"],
)
async def test_an_edit_of_what_engines_share_brings_it(operator: Operator, person: Person, resource: Resource) -> None:
    is_shared = resource == CLUSTER_FIREBOLT_ENGINE_CLASSES
    name = f"of-{person.namespace}" if is_shared else "firebolt"  # no namespace keeps those of the cluster apart
    ref = Ref(resource, "" if is_shared else person.namespace, name)
    await make(person, resource, name, template=template("engine", OLD))
    named = {} if resource == FIREBOLT_ENGINE_PRESETS else {"engineClassRef": name}
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", **named)
    await person.make_instance(id=ID, metadata={"template": template("metadata", NEW)})
    await operator.until(lambda found: f'engine "one" image "{OLD}"' in said(found))
    await person.client.merge_patch(ref, {"spec": {"template": template("engine", NEW)}})
    await operator.until(lambda found: found.spec.id == ID.lower())
    if is_shared:
        stored = await person.client.get(ref)
        assert stored is not None
        await person.client.delete(ref, uid=stored["metadata"]["uid"])


@pytest.mark.parametrize(
    ("metadata", "engine", "is_lower"),
    [
        pytest.param(NEW, NEW, True, id="new-images"),
        pytest.param(OLD, NEW, False, id="old-metadata"),
        pytest.param(NEW, OLD, False, id="old-engines"),
    ],
)
async def test_it_is_minted_as_the_images_take_it(
    simulated_pods: SimulatedPods, person: Person, metadata: str, engine: str, *, is_lower: bool
) -> None:
    kubeconfig = simulated_pods.control_plane.kubeconfig
    async with running_operator(kubeconfig, person.namespace, engine_image=engine) as operator:
        await person.make_instance(metadata={"template": template("metadata", metadata)})
        minted = (await operator.until(lambda found: bool(found.spec.id))).spec.id
        assert (len(minted), minted) == (26, minted.lower() if is_lower else minted.upper())
        if is_lower:
            await operator.until(lambda found: said(found) == "Canonical: spec.id is a lowercase Crockford ULID")


async def test_an_image_that_is_pinned_by_digest_cannot_be_compared(operator: Operator, person: Person) -> None:
    image = "image@sha256:" + "0123456789abcdef" * 4
    await person.make_instance(id=ID, metadata={"template": template("metadata", image)})
    await operator.until(
        lambda found: said(found).startswith(
            f'ImageBelowFloor: spec.id is an uppercase Crockford ULID; metadata image "{image}" is pinned by digest'
        )
    )


async def test_an_engine_whose_class_is_missing_is_told_and_holds_up_nothing_else(
    operator: Operator, person: Person
) -> None:
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", engineClassRef="gone")
    await person.make_instance(id=ID, metadata={"template": template("metadata", NEW)})
    ready = await operator.until_ready()
    assert said(ready) == (
        f'ImageResolveFailed: cannot resolve engine "one" image: FireboltEngineClass {person.namespace}/gone not found,'
        " ClusterFireboltEngineClass gone not found"
    )
    await make(person, FIREBOLT_ENGINE_CLASSES, "gone", template=template("engine", NEW))
    await operator.until(lambda found: found.spec.id == ID.lower())


async def test_a_refused_rewrite_is_told_and_holds_up_nothing_else(
    operator: Operator, person: Person, control_plane: ControlPlane
) -> None:
    """As by the definition of a former release, which lets nobody change an id."""
    await person.make_instance(id=ID, metadata={"template": template("metadata", OLD)})
    await operator.until_ready()
    async with ids_fixed(person, control_plane):
        await person.patch_instance({"spec": {"metadata": {"template": template("metadata", NEW)}}})
        refused = await operator.until(lambda found: said(found).startswith("UpdateRejected: "))
        assert said(refused).startswith(f'UpdateRejected: spec.id could not be canonicalized to "{ID.lower()}": ')
        assert refused.spec.id == ID
        deployment = await person.until(DEPLOYMENTS, "inst-metadata", lambda found: NEW in str(found))
        assert deployment is not None
        assert (await operator.until_ready()).status.instance_id == ID
    await operator.next_pass()
    await operator.until(lambda found: found.spec.id == ID.lower())


@asynccontextmanager
async def ids_fixed(person: Person, plane: ControlPlane) -> AsyncGenerator[None]:
    path, name = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpol", f"ids-of-{person.namespace}"
    rule = {
        "apiGroups": [FIREBOLT_INSTANCES.group],
        "apiVersions": ["*"],
        "operations": ["UPDATE"],
        "resources": [FIREBOLT_INSTANCES.plural],
    }
    place = {"matchLabels": {"kubernetes.io/metadata.name": person.namespace}}
    spec: Manifest = {
        "matchConstraints": {"resourceRules": [rule], "namespaceSelector": place},
        "validations": [{"expression": "object.spec.id == oldObject.spec.id", "message": "ids are fixed"}],
    }
    binding: Manifest = {"policyName": name, "validationActions": ["Deny"]}
    kinds: dict[str, tuple[str, Manifest]] = {
        "icies": ("ValidatingAdmissionPolicy", spec),
        "icybindings": ("ValidatingAdmissionPolicyBinding", binding),
    }
    api = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    for plural, (kind, content) in kinds.items():
        plane.http.create(path + plural, {**api, "kind": kind, "spec": content})
    inst = f"/apis/{FIREBOLT_INSTANCES.api_version}/namespaces/{person.namespace}/fireboltinstances/inst?dryRun=All"

    def is_fixed() -> bool:
        body = json.dumps({"spec": {"id": ID.lower()}})
        return "ids are fixed" in plane.http.text("PATCH", inst, body, MERGE_PATCH)[1]

    try:
        await asyncio.to_thread(plane.wait_until, is_fixed, "the policy is known")
        yield
    finally:
        for plural in kinds:
            plane.http.text("DELETE", f"{path}{plural}/{name}")
        await asyncio.to_thread(plane.wait_until, lambda: not is_fixed(), "the policy is forgotten")


async def test_the_next_generation_of_the_metadata_service_knows_no_id_and_does_not_restart_for_it(
    operator: Operator, person: Person
) -> None:
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", template=template("engine", OLD))
    await person.make_instance(id=ID, metadataNG=True, metadata={"template": template("metadata", NEW)})
    await operator.until_ready()
    before = await person.read(DEPLOYMENTS, "inst-metadata")
    config = await person.read(CONFIG_MAPS, "inst-metadata-config")
    assert ID not in str(config["data"])
    assert list(yaml.safe_load(config["data"]["config.yaml"])) == ["pensieve_duck"]
    await person.patch(FIREBOLT_ENGINES, "one", {"spec": {"template": template("engine", NEW)}})
    await operator.until(lambda found: found.status.instance_id == ID.lower())
    await operator.settled()
    after = await person.read(DEPLOYMENTS, "inst-metadata")
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    await person.patch_instance({"spec": {"metadataNG": False}})
    await person.until(
        DEPLOYMENTS,
        "inst-metadata",
        lambda found: found is not None and found["metadata"]["generation"] > after["metadata"]["generation"],
    )


async def test_an_instance_can_be_deleted_whatever_its_id_waits_for(operator: Operator, person: Person) -> None:
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", engineClassRef="gone")
    await person.make_instance(id=ID, metadata={"template": template("metadata", NEW)})
    await operator.until(lambda found: said(found).startswith("ImageResolveFailed"))
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)


async def test_an_id_that_is_no_ulid_is_left_alone(operator: Operator, person: Person) -> None:
    await person.make_instance(id="ACME", metadata={"template": template("metadata", NEW)})
    instance = await operator.until_ready()
    assert (instance.spec.id, said(instance)) == (
        "ACME",
        "Canonical: spec.id is not a Crockford ULID; nothing to canonicalize",
    )
