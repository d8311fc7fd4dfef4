"""An id in upper case is rewritten once every image takes it, and nothing else is done for it."""

from typing import Any

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import CONDITION_INSTANCE_ID_CANONICAL
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
)
from firebolt_operator.manifests.releases import FLOOR
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator

ID = "01JZ8E3F9V7Q0K2M4N6P8R0T2W"
OLD, NEW = "image:release-4.9.0", f"image:{FLOOR}"


def template(container: str, image: str) -> Manifest:
    return {"spec": {"containers": [{"name": container, "image": image}]}}


def said(instance: FireboltInstance) -> str:
    found = find_condition(instance.status.conditions, CONDITION_INSTANCE_ID_CANONICAL)
    return f"{found.reason}: {found.message}" if found else ""


async def make(person: Person, resource: Resource, name: str, **spec: Any) -> None:
    metadata = {"name": name, "namespace": person.namespace}
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


@pytest.mark.parametrize("resource", [FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS], ids=["class", "preset"])
async def test_an_edit_of_what_engines_share_brings_it(operator: Operator, person: Person, resource: Resource) -> None:
    name = "firebolt"
    await make(person, resource, name, template=template("engine", OLD))
    named = {"engineClassRef": name} if resource == FIREBOLT_ENGINE_CLASSES else {}
    await make(person, FIREBOLT_ENGINES, "one", instanceRef="inst", **named)
    await person.make_instance(id=ID, metadata={"template": template("metadata", NEW)})
    await operator.until(lambda found: f'engine "one" image "{OLD}"' in said(found))
    await person.patch(resource, name, {"spec": {"template": template("engine", NEW)}})
    await operator.until(lambda found: found.spec.id == ID.lower())


async def test_it_is_minted_in_upper_case_for_old_images(operator: Operator, person: Person) -> None:
    await person.make_instance()
    instance = await operator.until_ready()
    assert instance.spec.id == instance.spec.id.upper()


async def test_an_id_that_is_no_ulid_is_left_alone(operator: Operator, person: Person) -> None:
    await person.make_instance(id="ACME", metadata={"template": template("metadata", NEW)})
    instance = await operator.until_ready()
    assert (instance.spec.id, said(instance)) == (
        "ACME",
        "Canonical: spec.id is not a Crockford ULID; nothing to canonicalize",
    )
