"""Is any query lost while an engine changes in other ways than its size?"""

import asyncio
import secrets
from datetime import timedelta

from firebolt_local.images.standin_images import ENGINE, ENGINE_NEXT
from firebolt_operator.api.names import CONTAINER_ENGINE, EngineReason
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINES,
    PODS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest
from kubectl_firebolt.picture.answers import generation_of_pod
from tests.e2e.scenario import NEXT_IMAGE, Scenario

GAP = timedelta(milliseconds=700)  # between two edits: long enough to be seen, too short for an engine to start


async def test_given_queries_when_the_image_changes_through_a_class_then_none_is_lost(scenario: Scenario) -> None:
    shared = f"shared-{secrets.token_hex(3)}"  # a class that was deleted is there for another minute
    await scenario.make_class(shared, _template(ENGINE))
    await scenario.make_resting_engine("classy", engineClassRef=shared)
    async with scenario.load("classy"):
        await scenario.client.merge_patch(
            scenario.ref(FIREBOLT_ENGINE_CLASSES, shared), {"spec": {"template": _template(ENGINE_NEXT)}}
        )
        await scenario.until(lambda: _images(scenario, "classy") == {ENGINE, ENGINE_NEXT}, "two images side by side")
        await scenario.until(lambda: _images(scenario, "classy") == {ENGINE_NEXT}, "the new image alone")
        await scenario.at_rest("classy", 2)
    assert scenario.engine("classy").status.active_generation == 1


async def test_given_queries_when_an_engine_is_edited_again_and_again_then_only_the_last_edit_stays(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("restless")
    async with scenario.load("restless"):
        edited = 0
        for number in range(8):
            labels = {"metadata": {"labels": {"edit": str(number)}}}
            edited = await scenario.edit("restless", replicas=1 + number % 3, template=labels)
            await asyncio.sleep(GAP.total_seconds())
        engine = await scenario.at_rest("restless", 2, since=edited)
        await scenario.until(
            lambda: len(scenario.informer.all_of(STATEFULSETS, "restless")) == 1, "one generation to be left"
        )
    current = engine.status.current_generation
    assert [each["metadata"]["labels"]["edit"] for each in scenario.informer.all_of(PODS, "restless", current)] == [
        "7",
        "7",
    ]
    assert len(scenario.informer.all_of(CONFIG_MAPS, "restless")) == 1


async def test_given_rollout_recreate_when_an_engine_changes_then_the_old_pods_go_at_once(scenario: Scenario) -> None:
    await scenario.make_resting_engine("abrupt", rollout="recreate")
    async with scenario.load("abrupt", may_fail=True) as load:
        edited = await scenario.edit("abrupt", template=NEXT_IMAGE)
        await scenario.at_rest("abrupt", 2, since=edited)
        await scenario.until(lambda: _generations(scenario, "abrupt") == {1}, "the old pods to be gone")
        before = len(load.answers)
        await asyncio.sleep(5)
        assert [each.problem for each in load.answers[before:] if generation_of_pod(each.pod) == 0] == []
    assert "draining" not in scenario.informer.phases_of("abrupt")


async def test_given_an_engine_when_deleted_and_made_again_then_it_is_a_new_one(scenario: Scenario) -> None:
    await scenario.make_resting_engine("phoenix", replicas=1)
    edited = await scenario.edit("phoenix", replicas=2)
    first = await scenario.at_rest("phoenix", 2, since=edited)
    await scenario.delete(scenario.ref(FIREBOLT_ENGINES, "phoenix"))
    await scenario.until(lambda: scenario.informer.get(FIREBOLT_ENGINES, "phoenix") is None, "the engine to be gone")
    await scenario.make_engine("phoenix", replicas=2)
    second = await scenario.at_rest("phoenix", 2)
    async with scenario.load("phoenix"):
        await asyncio.sleep(5)
    assert second.metadata.uid != first.metadata.uid
    await scenario.until(
        lambda: _owners(scenario, "phoenix") == {second.metadata.uid}, "nothing of the first to be left"
    )


async def test_given_a_stopped_engine_when_asked_then_it_says_so_at_once_until_it_is_resumed(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("resting")
    edited = await scenario.edit("resting", replicas=0)
    await scenario.at_rest("resting", 0, since=edited)
    assert scenario.ready("resting").reason == EngineReason.STOPPED
    await scenario.until(lambda: not scenario.informer.all_of(PODS, "resting"), "the pods to be gone")
    # Without auto-stop a query starts nothing: whoever stopped the engine meant it.
    refused = await scenario.ask("resting")
    assert refused.status == 503
    assert "stopped by its owner" in refused.problem
    assert not scenario.informer.all_of(PODS, "resting")
    edited = await scenario.edit("resting", replicas=2)
    await scenario.at_rest("resting", 2, since=edited)
    assert (await scenario.ask("resting")).problem == ""
    async with scenario.load("resting"):
        await asyncio.sleep(5)


def _generations(scenario: Scenario, engine: str) -> set[int | None]:
    return {generation_of_pod(pod["metadata"]["name"]) for pod in scenario.informer.all_of(PODS, engine)}


def _owners(scenario: Scenario, engine: str) -> set[str]:
    children = [
        each for kind in (STATEFULSETS, SERVICES, CONFIG_MAPS) for each in scenario.informer.all_of(kind, engine)
    ]
    return {owner["uid"] for each in children for owner in each["metadata"]["ownerReferences"]}


def _template(image: str) -> Manifest:
    return {"spec": {"containers": [{"name": CONTAINER_ENGINE, "image": image}]}}


def _images(scenario: Scenario, engine: str) -> set[str]:
    pods = scenario.informer.all_of(PODS, engine)
    return {each["image"] for pod in pods for each in pod["spec"]["containers"] if each["name"] == CONTAINER_ENGINE}
