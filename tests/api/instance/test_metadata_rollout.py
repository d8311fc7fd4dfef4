"""Two metadata services never write to one database, however long the old one takes to end."""

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import DEPLOYMENTS, PODS
from firebolt_operator.instance.render.metadata_service import metadata_deployment
from firebolt_operator.refs import Manifest
from tests.api.instance.person import Person
from tests.api.instance.running import IMAGES, Operator

METADATA_PODS = "firebolt.io/instance=inst,firebolt.io/component=metadata"
HELD = "example.com/still-writing"
ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}


async def test_given_a_pod_that_takes_long_to_end_when_the_service_rolls_then_no_second_one_starts(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await operator.until_ready()
    (old,) = await person.names(PODS, METADATA_PODS)
    await person.patch(PODS, old, {"metadata": {"finalizers": [HELD]}})
    edited = {"spec": {"metadata": {"template": {"metadata": {"annotations": {"edited": "yes"}}}}}}
    await person.patch_instance(edited)
    await person.until(PODS, old, _is_ending)
    # The Deployment's controller has looked at it since, and is content to wait.
    await person.until(DEPLOYMENTS, "inst-metadata", _has_no_replica)
    assert await person.names(PODS, METADATA_PODS) == {old}
    await person.patch(PODS, old, {"metadata": {"finalizers": []}})
    await person.until(PODS, old, lambda found: found is None)
    await operator.until_ready()
    assert len(await person.names(PODS, METADATA_PODS)) == 1


async def test_given_a_deployment_of_the_first_release_when_it_is_taken_on_then_no_pod_is_replaced(
    operator: Operator, person: Person, operator_door: Person
) -> None:
    await person.make_instance()
    instance = await operator.until_ready()
    pods = await person.names(PODS, METADATA_PODS)
    await operator_door.client.apply(_as_first_released(instance))
    await person.until(DEPLOYMENTS, "inst-metadata", _is_recreated)
    await operator.until_ready()
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}
    assert await person.names(PODS, METADATA_PODS) == pods


def _as_first_released(instance: FireboltInstance) -> Manifest:
    manifest = metadata_deployment(instance, IMAGES.metadata_service)
    return {**manifest, "spec": {**manifest["spec"], "strategy": ROLLING}}


def _is_ending(pod: Manifest | None) -> bool:
    return pod is not None and "deletionTimestamp" in pod["metadata"]


def _has_no_replica(deployment: Manifest | None) -> bool:
    assert deployment is not None
    status = deployment["status"]
    is_seen = status.get("observedGeneration") == deployment["metadata"]["generation"]
    return bool(is_seen and status.get("replicas", 0) == 0)


def _is_recreated(deployment: Manifest | None) -> bool:
    return deployment is not None and deployment["spec"]["strategy"] == {"type": "Recreate"}
