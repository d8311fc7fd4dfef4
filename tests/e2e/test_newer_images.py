"""Is any query lost while an instance moves from images with ids in upper case to images with ids in lower case?"""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Final

import pytest

from firebolt_local.images.standin_images import ENGINE, METADATA, NEW_TAG, OLD_TAG, of_release
from firebolt_operator.api.names import (
    COMPONENT_METADATA,
    CONDITION_INSTANCE_ID_CANONICAL,
    LABEL_COMPONENT,
    PRESET_NAME,
    config_map_name,
    metadata_name,
)
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_INSTANCES,
    PODS,
)
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from tests.e2e.environment import INSTANCE
from tests.e2e.informer import Informer
from tests.e2e.scenario import PER_SECOND, Scenario

ID: Final = "01JZ8E3F9V7Q0K2M4N6P8R0T2W"
PARKED: Final = {"enabled": True, "activeReplicas": 1, "idleReplicas": 0, "idleTimeout": "10m"}
LIMIT_SECONDS: Final = 300.0  # a container that failed is tried again after up to 80 s


def asks_for(container: str, image: str, tag: str) -> Manifest:
    return {"spec": {"containers": [{"name": container, "image": of_release(image, tag)}]}}


def metadata_spec(tag: str) -> Manifest:
    return {"metadata": {"template": asks_for("metadata", METADATA, tag)}}


def engine_template(tag: str) -> Manifest:
    return asks_for("engine", ENGINE, tag)


@pytest.fixture
async def moving(scenario: Scenario) -> AsyncGenerator[Scenario]:
    """A namespace of its own, with an instance and a preset of old images."""
    namespace, informer = f"moving-{secrets.token_hex(3)}", Informer(time.monotonic)
    # Two engines get half of the queries each.
    own = replace(scenario, namespace=namespace, informer=informer, per_second=PER_SECOND / 2, _made=[])
    await asyncio.to_thread(own.environment.make_namespace, namespace)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(informer.run(own.client, namespace), name="informer")
        try:
            await own.make(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, {"template": engine_template(OLD_TAG)})
            await own.make(FIREBOLT_INSTANCES, INSTANCE, {"id": ID, "gateway": {}, **metadata_spec(OLD_TAG)})
            await asyncio.to_thread(own.environment.wait_for_instance, namespace)
            yield own
            await own.leave()
        finally:
            watching.cancel()
    # Its preset is kept for as long as somebody may just have found it alive; nobody waits for that here.
    await asyncio.to_thread(own.environment.kubectl, "delete", "namespace", namespace, "--wait=false")


async def test_given_an_id_in_upper_case_when_all_images_move_then_it_is_rewritten_and_no_query_is_lost(
    moving: Scenario,
) -> None:
    await moving.make_engine("parked", replicas=0, autoStop=PARKED)
    await moving.make_engine("rolling", replicas=1, template=engine_template(OLD_TAG))
    await moving.make_resting_engine("steady")
    await moving.at_rest("rolling", 1)
    await moving.at_rest("parked", 0)
    assert said(moving).startswith(
        f'ImageBelowFloor: spec.id is an uppercase Crockford ULID; metadata image "{of_release(METADATA, OLD_TAG)}"'
    )
    before = await metadata_pods(moving)

    async with moving.load("steady"), moving.load("rolling"):
        # Alone it cannot start: the new image refuses the id. It says so, and what ran before goes on serving.
        rolled = await moving.edit("rolling", template=engine_template(NEW_TAG))
        await until(moving, lambda: "CrashLoopBackOff" in moving.ready("rolling").message, "the new pod to be refused")
        refused = moving.engine("rolling").status
        assert (moving.ready("rolling").reason, refused.ready_replicas, refused.active_generation) == ("Rolling", 1, 0)
        await edit_preset(moving, NEW_TAG)
        await until(moving, lambda: phases(moving) == ("creating", "creating"), "both to start with the new image")
        assert said(moving).startswith("ImageBelowFloor: ")
        assert uids(await metadata_pods(moving)) == uids(before)

        await moving.client.merge_patch(moving.ref(FIREBOLT_INSTANCES, INSTANCE), {"spec": metadata_spec(NEW_TAG)})
        await until(moving, lambda: said(moving).startswith("Canonical: "), "the id to be rewritten")
        await until(moving, lambda: phases(moving) == ("stable", "stable"), "both to arrive")
        await moving.at_rest("steady", 2)
        await moving.at_rest("rolling", 1, since=rolled)

    assert said(moving) == "Canonical: spec.id is a lowercase Crockford ULID"
    assert (await moving.ask("parked")).problem == ""
    woken = await moving.at_rest("parked", 1)
    # None was rolled once more because of the id.
    assert [moving.engine(name).status.active_generation for name in ("rolling", "steady")] == [1, 1]
    for engine in (moving.engine("rolling"), moving.engine("steady"), woken):
        assert told_id(moving, engine.metadata.name, engine.status.active_generation) == ID.lower()
        assert engine.status.applied_preset_name == PRESET_NAME
    assert instance(moving)["spec"]["id"] == instance(moving)["status"]["instanceID"] == ID.lower()

    deployment = await moving.client.get(moving.ref(DEPLOYMENTS, metadata_name(INSTANCE)))
    assert deployment is not None
    assert deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "2", "restarted exactly once"
    [pod] = await metadata_pods(moving)
    assert pod["metadata"]["uid"] not in uids(before)
    assert [each["restartCount"] for each in pod["status"]["containerStatuses"]] == [0]


async def until(scenario: Scenario, is_there: Callable[[], bool], what: str) -> None:
    await scenario.until(is_there, what, seconds=LIMIT_SECONDS)


async def edit_preset(scenario: Scenario, tag: str) -> None:
    patch = {"spec": {"template": engine_template(tag)}}
    await scenario.client.merge_patch(scenario.ref(FIREBOLT_ENGINE_PRESETS, PRESET_NAME), patch)


def instance(scenario: Scenario) -> Manifest:
    found = scenario.informer.get(FIREBOLT_INSTANCES, INSTANCE)
    assert found is not None
    return found


def said(scenario: Scenario) -> str:
    """Of the id, in the words that people see."""
    conditions = {each["type"]: each for each in instance(scenario).get("status", {}).get("conditions", [])}
    found = conditions.get(CONDITION_INSTANCE_ID_CANONICAL, {})
    return f"{found.get('reason')}: {found.get('message')}"


def phases(scenario: Scenario) -> tuple[str, str]:
    return scenario.engine("rolling").status.phase, scenario.engine("steady").status.phase


def told_id(scenario: Scenario, engine: str, generation: int) -> str:
    """What the pods of that generation read."""
    found = scenario.informer.get(CONFIG_MAPS, config_map_name(engine, generation))
    assert found is not None
    return str(json.loads(found["data"]["config.yaml"])["instance"]["id"])


async def metadata_pods(scenario: Scenario) -> list[Manifest]:
    labels = f"{LABEL_COMPONENT}={COMPONENT_METADATA}"
    return await scenario.client.list(Scope(resource=PODS, namespace=scenario.namespace, labels=labels))


def uids(pods: list[Manifest]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in pods}
