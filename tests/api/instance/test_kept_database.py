"""A database that outlives its instance: kept whole, found again by the next one of that name, and by nobody else."""

import pytest

from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.names import ANNOTATION_CLEAR_FAILED, ANNOTATION_INSTANCE_ID
from firebolt_operator.api.resources import (
    DEPLOYMENTS,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.kube.ports import Propagation
from firebolt_operator.refs import Manifest, Ref
from tests.api.instance.person import Person
from tests.api.instance.running import Operator
from tests.api.instance.test_crashes import live_until
from tests.api.instance.test_database import reason

CREDENTIALS = "inst-metadata-postgres-creds"
CLAIM = "data-inst-metadata-pg-0"
OURS = "firebolt.io/instance=inst"
RETAIN: Manifest = {"postgresStorage": {"reclaimPolicy": "Retain"}}
PLAIN = {"username": "firebolt", "password": "theirs", "database": "firebolt_metadata"}
CLEAR = {"metadata": {"annotations": {ANNOTATION_CLEAR_FAILED: "true"}}}


async def delete_instance(person: Person, propagation: Propagation = "Background") -> None:
    found = await person.read(FIREBOLT_INSTANCES, "inst")
    ref = Ref(FIREBOLT_INSTANCES, person.namespace, "inst")
    await person.client.delete(ref, uid=found["metadata"]["uid"], propagation=propagation)
    await person.until(FIREBOLT_INSTANCES, "inst", lambda left: left is None)
    await person.until(STATEFULSETS, "inst-metadata-pg", lambda left: left is None)


async def make_claim(person: Person, **metadata: object) -> Manifest:
    return await person.client.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": CLAIM, "namespace": person.namespace, **metadata},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    )


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_the_next_instance_of_that_name_comes_up_on_what_was_kept(
    operator: Operator, person: Person, propagation: Propagation
) -> None:
    await person.make_instance(metadata=RETAIN)
    first = await operator.until_ready()
    password, claim = await person.password(), await person.read(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    await delete_instance(person, propagation)
    assert await person.names(SECRETS, OURS) == {CREDENTIALS}
    assert await person.names(PERSISTENT_VOLUME_CLAIMS, OURS) == {CLAIM}
    for resource in (DEPLOYMENTS, SERVICES):
        assert await person.names(resource, OURS) == set()

    await person.make_instance()
    second = await operator.until_ready()
    assert (second.spec.id, second.status.instance_id) == (first.spec.id, first.spec.id)
    assert second.metadata.uid != first.metadata.uid
    assert await person.password() == password
    found = await person.read(PERSISTENT_VOLUME_CLAIMS, CLAIM)
    assert (found["metadata"]["uid"], found["metadata"].get("deletionTimestamp")) == (claim["metadata"]["uid"], None)
    # This one says Delete, and so it owns them now.
    await delete_instance(person)
    await person.until(PERSISTENT_VOLUME_CLAIMS, CLAIM, lambda left: left is None)
    assert await person.names(SECRETS, OURS) == set()


async def test_the_policy_may_change_while_the_instance_lives(operator: Operator, person: Person) -> None:
    await person.make_instance()
    ready = await operator.until_ready()
    owned = (await person.read(SECRETS, CREDENTIALS))["metadata"]
    for policy, owner in (("Retain", None), ("Delete", owned["ownerReferences"])):
        await person.patch_instance({"spec": {"metadata": {"postgresStorage": {"reclaimPolicy": policy}}}})

        def is_said(secret: Manifest | None, owner: object = owner) -> bool:
            return secret is not None and secret["metadata"].get("ownerReferences") == owner

        secret = await person.until(SECRETS, CREDENTIALS, is_said)
        assert secret is not None
        recorded = secret["metadata"].get("annotations", {}).get(ANNOTATION_INSTANCE_ID)
        assert recorded == (ready.spec.id if policy == "Retain" else None)
        await operator.settled()
        operator.requests.seen.clear()
        assert await operator.next_pass() == "at rest"
        assert operator.requests.seen == {}


async def test_every_write_of_a_deletion_that_keeps_may_be_the_last(
    person: Person, operator_door: Person, simulated_pods: SimulatedPods
) -> None:
    """Also when the wish to keep comes together with the deletion."""
    del simulated_pods
    await person.make_instance()
    await live_until(operator_door, "at rest")
    made, password = await person.read(FIREBOLT_INSTANCES, "inst"), await person.password()
    await person.patch_instance({"spec": {"metadata": RETAIN}})
    await person.delete(FIREBOLT_INSTANCES, "inst")
    deaths = await live_until(operator_door, "gone")
    assert deaths[0] == f"after patching Secret {person.namespace}/{CREDENTIALS}"
    assert not any(CREDENTIALS in death or CLAIM in death for death in deaths[1:])
    await person.until(STATEFULSETS, "inst-metadata-pg", lambda left: left is None)

    await person.make_instance(metadata=RETAIN)
    await live_until(operator_door, "at rest")
    again = await person.read(FIREBOLT_INSTANCES, "inst")
    assert (again["spec"]["id"], await person.password()) == (made["spec"]["id"], password)


async def test_a_wish_to_delete_that_comes_with_the_deletion_leaves_nothing(
    person: Person, operator_door: Person, simulated_pods: SimulatedPods
) -> None:
    del simulated_pods
    await person.make_instance(metadata=RETAIN)
    await live_until(operator_door, "at rest")
    await person.patch_instance({"spec": {"metadata": {"postgresStorage": {"reclaimPolicy": "Delete"}}}})
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await live_until(operator_door, "gone")
    assert await person.names(SECRETS, OURS) == set()
    await person.until(PERSISTENT_VOLUME_CLAIMS, CLAIM, lambda left: left is None)


async def test_another_id_on_a_kept_database_waits_for_a_person(operator: Operator, person: Person) -> None:
    await person.make_instance(metadata=RETAIN)
    first = await operator.until_ready()
    await delete_instance(person)
    await person.make_instance(id="01ANOTHER", metadata=RETAIN)
    failed = await operator.until(lambda found: found.status.phase == "Failed")
    assert reason(failed) == "InstanceIDChanged"
    assert await person.names(STATEFULSETS) == set()
    await person.patch_instance({"spec": {"id": None}})
    await operator.until(lambda found: found.spec.id == first.spec.id)
    await person.patch_instance(CLEAR)
    assert (await operator.until_ready()).status.instance_id == first.spec.id


async def test_a_forged_secret_does_not_choose_the_id_of_an_instance(operator: Operator, person: Person) -> None:
    labels = {"firebolt.io/instance": "inst", "firebolt.io/component": "postgres"}
    forged = {"labels": labels, "annotations": {ANNOTATION_INSTANCE_ID: "01SOMEBODYELSES"}}
    await person.make_secret(CREDENTIALS, PLAIN, **forged)
    await person.make_instance()
    ready = await operator.until_ready()
    assert ready.spec.id == ready.status.instance_id != "01SOMEBODYELSES"


async def test_a_claim_of_somebody_else_is_not_opened_until_its_owner_says_so(
    operator: Operator, person: Person
) -> None:
    await make_claim(person)
    await person.make_secret(CREDENTIALS, PLAIN)
    await person.make_instance()
    told = await operator.until(lambda found: reason(found) == "PostgresEnsureFailed")
    assert any("exists, not made for this instance" in each.message for each in told.status.conditions)
    assert await person.names(STATEFULSETS) == set()
    labels = {"firebolt.io/instance": "inst", "firebolt.io/component": "postgres"}
    await person.patch(PERSISTENT_VOLUME_CLAIMS, CLAIM, {"metadata": {"labels": labels}})
    await operator.next_pass()
    await operator.until_ready()
