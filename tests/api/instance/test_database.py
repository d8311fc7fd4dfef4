"""Credentials: minted once, never replaced, missed when they are gone."""

import base64
import time
from datetime import timedelta

import pytest

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import ANNOTATION_CLEAR_FAILED
from firebolt_operator.api.resources import DEPLOYMENTS, EVENTS, FIREBOLT_INSTANCES, PODS, SECRETS, STATEFULSETS
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime import work_queue
from tests.api.instance.person import Person
from tests.api.instance.running import Operator

CREDENTIALS = "inst-metadata-postgres-creds"
LOGIN = {"username": "u", "password": "p"}
EXTERNAL: Manifest = {"host": "db.example", "database": "meta", "credentialsSecretRef": {"name": "db-login"}}
CLEAR = {"metadata": {"annotations": {ANNOTATION_CLEAR_FAILED: "true"}}}


def reason(instance: FireboltInstance) -> str:
    return next((each.reason for each in instance.status.conditions if each.type == "Ready"), "")


async def version(person: Person) -> str:
    return str((await person.read(SECRETS, CREDENTIALS))["metadata"]["resourceVersion"])


async def warnings(person: Person) -> list[str]:
    events = await person.client.list(Scope(resource=EVENTS, namespace=person.namespace))
    mine = (each for each in events if each["regarding"]["kind"] == "FireboltInstance" and each["type"] == "Warning")
    return sorted(each["reason"] for each in mine)


async def test_the_password_is_minted_once(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    secret = await person.read(SECRETS, CREDENTIALS)
    plain = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
    assert (plain["username"], plain["database"]) == ("firebolt", "firebolt_metadata")
    assert len(bytes.fromhex(plain["password"])) == 12
    await operator.next_pass()
    assert await version(person) == secret["metadata"]["resourceVersion"]


async def test_a_database_of_another_size_comes_to_rest(operator: Operator, person: Person) -> None:
    """The server writes quantities its own way: they must not look like drift for ever."""
    resources = {"requests": {"cpu": 1, "memory": "1024Mi"}, "limits": {"memory": "2048Mi"}}
    await person.make_instance(metadata={"postgresStorage": {"size": "2048Mi", "resources": resources}})
    await operator.until_ready()
    spec = (await person.read(STATEFULSETS, "inst-metadata-pg"))["spec"]
    assert spec["volumeClaimTemplates"][0]["spec"]["resources"] == {"requests": {"storage": "2Gi"}}
    assert spec["template"]["spec"]["containers"][0]["resources"]["limits"] == {"memory": "2Gi"}
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}


async def test_a_secret_made_beforehand_is_taken_as_it_is(operator: Operator, person: Person) -> None:
    data = {"username": "firebolt", "password": "mine", "database": "firebolt_metadata"}
    made = await person.make_secret(CREDENTIALS, data)
    await person.make_instance()
    await operator.until_ready()
    assert await version(person) == made["metadata"]["resourceVersion"]
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}
    await person.patch(SECRETS, CREDENTIALS, {"stringData": {"username": "root"}})
    told = await operator.until(lambda found: reason(found) == "PostgresEnsureFailed")
    assert told.status.metadata_endpoint != ""  # the running service still has its connection
    await person.patch(SECRETS, CREDENTIALS, {"stringData": {"username": "firebolt"}})
    await operator.until_ready()


async def test_lost_credentials_fail_the_instance_until_a_person_clears_it(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    lost = await person.delete(SECRETS, CREDENTIALS)
    failed = await operator.until(lambda found: found.status.phase == "Failed")
    assert (reason(failed), failed.status.metadata_endpoint) == ("PostgresCredentialsLost", "")
    assert await warnings(person) == ["PostgresCredentialsLost"]

    await person.patch_instance(CLEAR)
    again = await operator.until(
        lambda found: found.status.phase == "Failed" and "removing the wish to clear Failed" in operator.passes
    )
    assert ANNOTATION_CLEAR_FAILED not in again.metadata.annotations
    assert reason(again) == "PostgresCredentialsLost"
    await operator.settled()
    assert await person.find(SECRETS, CREDENTIALS) is None
    assert await warnings(person) == ["PostgresCredentialsLost"] * 2

    plain = {key: base64.b64decode(value).decode() for key, value in lost["data"].items()}
    await person.make_secret(CREDENTIALS, plain)
    await person.patch_instance(CLEAR)
    await operator.until_ready()


async def test_deletion_works_while_failed(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    await person.patch_instance({"status": {"phase": "Failed"}}, subresource="status")
    await operator.until(lambda found: found.status.phase == "Failed")
    await person.patch(DEPLOYMENTS, "inst-gateway", {"spec": {"replicas": 3}})
    await operator.next_pass()
    assert (await person.read(DEPLOYMENTS, "inst-gateway"))["spec"]["replicas"] == 3  # nothing is rendered
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)


async def test_a_changed_id_fails_the_instance_until_a_person_accepts_it(operator: Operator, person: Person) -> None:
    await person.make_instance()
    ready = await operator.until_ready()
    await person.patch_instance({"status": {"instanceID": "01OLD"}}, subresource="status")
    failed = await operator.until(lambda found: found.status.phase == "Failed")
    assert (reason(failed), failed.status.metadata_endpoint) == ("InstanceIDChanged", "")
    await person.patch_instance(CLEAR)
    accepted = await operator.until_ready()
    assert accepted.status.instance_id == ready.spec.id
    assert ANNOTATION_CLEAR_FAILED not in accepted.metadata.annotations


async def test_a_removed_id_is_put_back(operator: Operator, person: Person) -> None:
    await person.make_instance()
    ready = await operator.until_ready()
    await person.patch_instance({"spec": {"id": None}})
    back = await operator.until(
        lambda found: found.spec.id != "" and found.metadata.resource_version != ready.metadata.resource_version
    )
    assert back.spec.id == ready.spec.id
    assert (await operator.until_ready()).status.instance_id == ready.spec.id


async def test_a_database_of_the_users_own_waits_for_its_secret(operator: Operator, person: Person) -> None:
    await person.make_instance(metadata={"postgres": EXTERNAL})
    blocked = await operator.until(lambda found: reason(found) == "PostgresSecretPreflightFailed")
    message = next(each.message for each in blocked.status.conditions if each.type == "MetadataReady")
    assert message == f"Secret {person.namespace}/db-login not found"
    assert await person.names(DEPLOYMENTS) == await person.names(STATEFULSETS) == set()
    await person.make_secret("db-login", LOGIN)
    await operator.until_ready()
    assert await person.names(STATEFULSETS) == set()
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}


async def test_a_secret_that_appears_is_noticed_without_trying_again(
    operator: Operator, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retries would find it in the end, but a minute late once they have backed off."""
    monkeypatch.setattr(work_queue, "FIRST_RETRY", timedelta(hours=1))
    monkeypatch.setattr(work_queue, "LONGEST_RETRY", timedelta(hours=1))
    await person.make_instance(metadata={"postgres": EXTERNAL})
    await operator.until(lambda found: reason(found) == "PostgresSecretPreflightFailed")
    await operator.settled()
    began_at = time.monotonic()
    await person.make_secret("db-login", {"username": "u"})  # half of it is noticed as well
    await operator.until(lambda found: "password" in _metadata_message(found))
    await person.patch(SECRETS, "db-login", {"stringData": {"password": "p"}})
    await operator.until_ready()
    assert time.monotonic() - began_at < 5


def _metadata_message(instance: FireboltInstance) -> str:
    return next((each.message for each in instance.status.conditions if each.type == "MetadataReady"), "")


async def test_a_database_of_the_users_own_whose_secret_goes(operator: Operator, person: Person) -> None:
    await person.make_secret("db-login", LOGIN)
    await person.make_instance(metadata={"postgres": EXTERNAL})
    await operator.until_ready()
    pods = await person.names(PODS)
    await person.delete(SECRETS, "db-login")
    degraded = await operator.until(lambda found: found.status.phase == "Degraded")
    assert (reason(degraded), degraded.status.metadata_endpoint) == ("PostgresSecretPreflightFailed", "")
    assert degraded.status.gateway_endpoint != ""
    assert await person.names(PODS) == pods
    await person.make_secret("db-login", LOGIN)
    await operator.until_ready()
