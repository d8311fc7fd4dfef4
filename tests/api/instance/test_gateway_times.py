"""What do `holdTimeout` and `drainTimeout` do to a running gateway, and to one whose instance is deleted?"""

import asyncio
from datetime import timedelta

from firebolt_operator.api.names import LABEL_COMPONENT
from firebolt_operator.api.resources import CONFIG_MAPS, DEPLOYMENTS, FIREBOLT_INSTANCES, PODS
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from tests.api.instance.person import SECONDS, Person
from tests.api.instance.running import Operator

GATEWAY_PODS = f"firebolt.io/instance=inst,{LABEL_COMPONENT}=gateway"
STAYS: Manifest = {"metadata": {"annotations": {"sim.firebolt.io/delete-after": "1h"}}}


async def gateway_pods(person: Person) -> list[Manifest]:
    return await person.client.list(Scope(resource=PODS, namespace=person.namespace, labels=GATEWAY_PODS))


async def end_pods(person: Person) -> None:
    """The kubelet's last word, until it has nothing more to say: a ReplicaSet may replace pods until it is gone."""
    while pods := [pod for pod in await gateway_pods(person) if "deletionTimestamp" in pod["metadata"]]:
        for pod in pods:
            ref = Ref(PODS, person.namespace, pod["metadata"]["name"])
            await person.client.delete(ref, uid=pod["metadata"]["uid"], grace_seconds=0)


async def revision(person: Person) -> str:
    """Counts the rollouts of the gateway."""
    found = await person.read(DEPLOYMENTS, "inst-gateway")
    return str(found["metadata"]["annotations"]["deployment.kubernetes.io/revision"])


async def until_ending(person: Person) -> list[Manifest]:
    """All gateway pods, once each of them is being deleted with no more than a minute of grace."""
    async with asyncio.timeout(SECONDS):
        while True:
            pods = await gateway_pods(person)
            graces = [pod["metadata"].get("deletionGracePeriodSeconds") for pod in pods]
            if pods and all(grace is not None and grace <= 60 for grace in graces):
                return pods
            await asyncio.sleep(0.05)


async def test_a_changed_time_rolls_the_gateway_once_and_other_words_for_it_do_not(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await operator.until_ready()
    stored = await person.read(FIREBOLT_INSTANCES, "inst")
    assert (stored["spec"]["gateway"]["holdTimeout"], stored["spec"]["gateway"]["drainTimeout"]) == ("120s", "15s")
    for number, (gateway, expected) in enumerate(
        [({"drainTimeout": "2m"}, "2"), ({"holdTimeout": "10m"}, "3"), ({"drainTimeout": "120s"}, "3")]
    ):
        edited = (await person.patch_instance({"spec": {"gateway": gateway}}))["metadata"]["generation"]
        await operator.until(lambda found: found.metadata.generation >= edited)  # noqa: B023 - awaited here
        await operator.next_pass()
        await person.until(DEPLOYMENTS, "inst-gateway", _is_observed)
        assert (number, await revision(person)) == (number, expected)
    deployment = await person.read(DEPLOYMENTS, "inst-gateway")
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 120
    config = await person.read(CONFIG_MAPS, "inst-gateway-config")
    assert "HOLD_TIMEOUT_MS = 605000" in config["data"]["envoy.yaml"]


def _is_observed(found: Manifest | None) -> bool:
    return found is not None and found["status"].get("observedGeneration") == found["metadata"]["generation"]


async def test_a_time_that_makes_no_sense_is_told_and_the_running_gateway_is_kept(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await operator.until_ready()
    before = await person.read(DEPLOYMENTS, "inst-gateway")
    await person.patch_instance({"spec": {"gateway": {"drainTimeout": "5s"}}})
    await operator.until(lambda found: any(each.reason == "SpecInvalid" for each in found.status.conditions))
    instance = operator.instance()
    assert instance is not None
    told = next(each for each in instance.status.conditions if each.type == "GatewayReady")
    assert (told.status, told.reason) == ("False", "SpecInvalid")
    assert told.message == 'spec.gateway.drainTimeout: Invalid value: "5s": "5s" is out of range; use 15s to 24h'
    assert instance.status.gateway_endpoint  # its pods serve as before
    after = await person.read(DEPLOYMENTS, "inst-gateway")
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    await person.patch_instance({"spec": {"gateway": {"drainTimeout": "20s"}}})
    await operator.until_ready()


async def test_a_deleted_instance_gives_its_gateway_a_minute_and_what_queries_need_stays_as_long(
    operator: Operator, person: Person
) -> None:
    await person.make_instance(gateway={"drainTimeout": "24h", "template": STAYS})
    await operator.until_ready()
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await until_ending(person)
    assert await person.find(DEPLOYMENTS, "inst-gateway") is None
    assert await person.find(DEPLOYMENTS, "inst-metadata") is not None
    assert await person.find(FIREBOLT_INSTANCES, "inst") is not None
    async with asyncio.timeout(SECONDS):
        while await person.find(FIREBOLT_INSTANCES, "inst") is not None:
            await end_pods(person)
    assert await gateway_pods(person) == []
    assert await person.find(DEPLOYMENTS, "inst-metadata") is None


async def test_a_deleted_instance_waits_for_pods_that_never_end_no_longer_than_that_minute(
    operator: Operator, person: Person
) -> None:
    await person.make_instance(gateway={"drainTimeout": "24h", "template": STAYS})
    await operator.until_ready()
    operator.clock.ahead = timedelta(hours=1)
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    assert await gateway_pods(person) != []
    await end_pods(person)


async def test_a_pod_of_somebody_else_that_carries_our_labels_survives_its_deletion(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await operator.until_ready()
    labels = {"firebolt.io/instance": "inst", LABEL_COMPONENT: "gateway"}
    metadata = {"name": "theirs", "namespace": person.namespace, "labels": labels}
    spec = {"containers": [{"name": "c", "image": "i"}]}
    await person.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    theirs = await person.read(PODS, "theirs")
    assert "deletionTimestamp" not in theirs["metadata"]
