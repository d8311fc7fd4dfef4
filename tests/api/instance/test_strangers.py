"""Objects of others that have our names: never taken over, never deleted, and the instance says whose they are."""

from typing import Any

import pytest

from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_INSTANCES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator
from tests.api.instance.test_lifecycle import LABEL, LABELS, THEIRS

GATEWAY_PODS = "firebolt.io/instance=inst,firebolt.io/component=gateway"
IN_THE_WAY: tuple[tuple[Resource, str], ...] = (
    (CONFIG_MAPS, "inst-gateway-accounts"),
    (STATEFULSETS, "inst-metadata-pg"),
    (SERVICES, "inst-metadata-pg"),
    (CONFIG_MAPS, "inst-metadata-config"),
    (DEPLOYMENTS, "inst-metadata"),
    (SERVICES, "inst-metadata"),
    (SERVICE_ACCOUNTS, "inst-gateway"),
    (ROLES, "inst-gateway"),
    (ROLE_BINDINGS, "inst-gateway"),
    (CONFIG_MAPS, "inst-gateway-config"),
    (DEPLOYMENTS, "inst-gateway"),
    (SERVICES, "inst-gateway"),
    (POD_DISRUPTION_BUDGETS, "inst-gateway"),
)
"""In the order in which they are made: each one stops what follows."""


async def make_theirs(person: Person, resource: Resource, name: str, **metadata: Any) -> Manifest:
    place = {"name": name, "namespace": person.namespace, **metadata}
    theirs = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": place, **THEIRS[resource]}
    return await person.client.create(theirs)


async def assert_untouched(person: Person, made: Manifest, resource: Resource) -> None:
    found = await person.read(resource, made["metadata"]["name"])
    for key in ("uid", "generation", "labels", "ownerReferences"):
        assert found["metadata"].get(key) == made["metadata"].get(key)
    assert FIELD_MANAGER not in {entry["manager"] for entry in found["metadata"].get("managedFields", [])}


def stalled(instance: FireboltInstance) -> Condition | None:
    return find_condition(instance.status.conditions, "Stalled")


@pytest.mark.parametrize(
    "metadata",
    [
        # No cache holds it: it is found by its name only.
        pytest.param({}, id="without-our-label"),
        pytest.param({"labels": LABELS}, id="with-our-label"),
    ],
)
async def test_every_object_of_somebody_else_is_named_and_left_alone(
    operator: Operator, person: Person, metadata: Manifest
) -> None:
    made = {place: await make_theirs(person, place[0], place[1], **metadata) for place in IN_THE_WAY}
    await person.make_instance()
    for (resource, name), theirs in made.items():
        words = f"{resource.kind} {person.namespace}/{name} exists and has no owner; delete it"

        def is_named(found: FireboltInstance, words: str = words) -> bool:
            told = stalled(found)
            return told is not None and words in told.message

        told = stalled(await operator.until(is_named))
        assert told is not None
        assert told.reason in {"EnsureFailed", "PostgresEnsureFailed"}
        await operator.next_pass()  # the pass after knows from no first look
        await assert_untouched(person, theirs, resource)
        await person.delete(resource, name)
        await operator.next_pass()
    ready = await operator.until_ready()
    assert stalled(ready) is None


async def test_an_object_that_appears_later_is_left_alone_too(operator: Operator, person: Person) -> None:
    """By then nothing reads live but what is about to be made."""
    await make_theirs(person, SERVICE_ACCOUNTS, "mine")
    await person.make_instance(gateway={"template": {"spec": {"serviceAccountName": "mine"}}})
    await operator.until_ready()
    await operator.settled()
    theirs = await make_theirs(person, ROLES, "inst-gateway")
    await person.patch_instance({"spec": {"gateway": {"template": None}}})
    told = await operator.until(lambda found: stalled(found) is not None)
    assert told.status.gateway_endpoint != ""  # what serves goes on serving
    await assert_untouched(person, theirs, ROLES)


async def test_given_an_owner_then_it_is_named(operator: Operator, person: Person) -> None:
    owner = await make_theirs(person, CONFIG_MAPS, "theirs")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": owner["metadata"]["uid"]}
    await make_theirs(person, SERVICES, "inst-metadata", ownerReferences=[reference])
    await person.make_instance()
    told = stalled(await operator.until(lambda found: stalled(found) is not None))
    assert told is not None
    assert told.message == (
        f"MetadataReady: ensuring metadata service: Service {person.namespace}/inst-metadata exists and belongs to"
        " ConfigMap theirs; delete it, or give the instance another name"
    )


async def test_when_the_instance_goes_then_what_it_does_not_own_stays(operator: Operator, person: Person) -> None:
    login = {"username": "firebolt", "password": "mine", "database": "firebolt_metadata"}
    await person.make_secret("inst-metadata-postgres-creds", login, labels=LABELS)
    await make_theirs(person, ROLES, "inst-gateway", labels=LABELS)
    await person.make_instance()
    await operator.until(lambda found: stalled(found) is not None)
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    assert await person.names(ROLES, LABEL) == {"inst-gateway"}
    assert await person.names(SECRETS, LABEL) == {"inst-metadata-postgres-creds"}
    await person.until(DEPLOYMENTS, "inst-metadata", lambda found: found is None)


async def test_pods_of_somebody_elses_deployment_stay_whatever_labels_they_carry(
    operator: Operator, person: Person
) -> None:
    labels = {"firebolt.io/instance": "inst", "firebolt.io/component": "gateway"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await person.client.create(
        {
            "apiVersion": DEPLOYMENTS.api_version,
            "kind": DEPLOYMENTS.kind,
            "metadata": {"name": "inst-gateway", "namespace": person.namespace},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": pod},
        }
    )
    await person.until(DEPLOYMENTS, "inst-gateway", lambda found: (found or {})["status"].get("readyReplicas") == 1)
    pods = await person.names(PODS, GATEWAY_PODS)
    await person.make_instance()
    await operator.until(lambda found: stalled(found) is not None)
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    assert await person.names(PODS, GATEWAY_PODS) == pods
    found = [await person.read(PODS, name) for name in pods]
    assert [each["metadata"].get("deletionTimestamp") for each in found] == [None]
