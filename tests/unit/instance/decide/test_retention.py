"""What is said on the credentials of a database that outlives its instance, and what the next one makes of it."""

import msgspec
import pytest

from firebolt_operator.api import names
from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.instance.decide.components import decide_instance
from firebolt_operator.instance.decide.retention import credentials_change, is_left_of, kept_id
from firebolt_operator.instance.facts import NOT_READY, SecretMissing, Volume
from firebolt_operator.instance.plan import Amend, Create, InstancePlan
from firebolt_operator.instance.views import SecretView
from firebolt_operator.refs import Manifest
from tests.support.instances import EXTERNAL, ID, a_secret, a_situation, an_instance, said, some_facts, written

OLD = "01OLD000000000000000000000"
RETAIN: Manifest = {"postgresStorage": {"reclaimPolicy": "Retain"}}
OURS = {names.LABEL_INSTANCE: "inst", names.LABEL_COMPONENT: names.COMPONENT_POSTGRES}
DECIDED_ON = {"uid": "secret-uid", "resourceVersion": "7"}
OWNER = {
    "apiVersion": "compute.firebolt.io/v1alpha1",
    "kind": "FireboltInstance",
    "name": "inst",
    "uid": "uid-1",
    "controller": True,
    "blockOwnerDeletion": True,
}


def credentials(*, owner: str = "", recorded: str = "", labels: dict[str, str] = OURS) -> SecretView:
    metadata = ObjectMeta(
        name="inst-metadata-postgres-creds",
        namespace="ns",
        uid="secret-uid",
        resource_version="7",
        labels=labels,
        annotations={names.ANNOTATION_INSTANCE_ID: recorded} if recorded else {},
        owner_references=[OwnerReference(kind="x", name="x", uid=owner)] if owner else [],
    )
    return a_secret(metadata=metadata)


def decide(secret: SecretView | SecretMissing, volume: Volume = Volume.ABSENT, **metadata: object) -> InstancePlan:
    instance = an_instance(status={"phase": "Provisioning"}, metadata=metadata)
    facts = some_facts(credentials=secret, volume=volume, metadata_service=NOT_READY, gateway=NOT_READY)
    return decide_instance(a_situation(instance, facts))


@pytest.mark.parametrize("recorded", [OLD, ""])
def test_given_an_instance_whose_id_cannot_be_read_then_what_was_recorded_stays(recorded: str) -> None:
    unknown = msgspec.structs.replace(an_instance(metadata=RETAIN), status=InstanceStatus())
    unknown = msgspec.structs.replace(unknown, spec=msgspec.structs.replace(unknown.spec, id=""))
    change = credentials_change(unknown, credentials(owner="uid-1", recorded=recorded).metadata)
    told = {"annotations": {names.ANNOTATION_INSTANCE_ID: recorded or None}, "ownerReferences": None}
    assert change == {"metadata": told | DECIDED_ON}


@pytest.mark.parametrize(
    ("metadata", "found", "change"),
    [
        pytest.param(
            RETAIN,
            credentials(owner="uid-1"),
            {"annotations": {names.ANNOTATION_INSTANCE_ID: ID}, "ownerReferences": None},
            id="retain-takes-the-owner-away",
        ),
        pytest.param(RETAIN, credentials(recorded=ID), None, id="retain-is-at-rest"),
        pytest.param(
            RETAIN,
            credentials(labels={}),
            {"annotations": {names.ANNOTATION_INSTANCE_ID: ID}, "ownerReferences": None},
            id="retain-records-the-id-on-a-secret-of-a-person",
        ),
        pytest.param(RETAIN, credentials(owner="another"), None, id="retain-leaves-what-another-owns"),
        pytest.param({}, credentials(owner="uid-1"), None, id="delete-is-at-rest"),
        pytest.param({}, credentials(), None, id="delete-leaves-what-has-no-owner"),
        pytest.param(
            {},
            credentials(recorded=ID),
            {"annotations": {names.ANNOTATION_INSTANCE_ID: None}, "ownerReferences": [OWNER]},
            id="delete-becomes-the-owner-of-what-was-kept",
        ),
        pytest.param({}, credentials(recorded=ID, labels={}), None, id="delete-leaves-a-secret-of-a-person"),
        pytest.param({}, credentials(recorded=ID, owner="another"), None, id="delete-leaves-what-another-owns"),
    ],
)
def test_what_is_said_on_the_credentials(metadata: Manifest, found: SecretView, change: Manifest | None) -> None:
    wanted = None if change is None else {"metadata": {**change, **DECIDED_ON}}
    assert credentials_change(an_instance(metadata=metadata), found.metadata) == wanted


@pytest.mark.parametrize(
    ("found", "volume", "expected"),
    [
        pytest.param(credentials(recorded=OLD), Volume.PRESENT, OLD, id="kept"),
        pytest.param(None, Volume.PRESENT, "", id="no-credentials"),
        pytest.param(credentials(), Volume.PRESENT, "", id="nobody-said"),
        pytest.param(credentials(recorded=OLD), Volume.ABSENT, "", id="a-secret-alone-chooses-no-id"),
        pytest.param(credentials(recorded=OLD), Volume.DELETING, "", id="a-database-on-its-way-out"),
        pytest.param(credentials(recorded=OLD), Volume.FOREIGN, "", id="a-volume-of-somebody-else"),
        pytest.param(credentials(recorded=OLD, owner="another"), Volume.PRESENT, "", id="a-secret-of-somebody-else"),
    ],
)
def test_the_id_that_is_taken_over(found: SecretView | None, volume: Volume, expected: str) -> None:
    assert kept_id(found.metadata if found else None, volume) == expected


def test_given_retain_when_a_password_is_minted_then_its_secret_has_no_owner_from_the_start() -> None:
    create = decide(SecretMissing(), **RETAIN).steps[1].write
    assert isinstance(create, Create)
    assert "ownerReferences" not in create.manifest["metadata"]
    assert create.manifest["metadata"]["annotations"] == {names.ANNOTATION_INSTANCE_ID: ID}


def test_given_retain_when_the_secret_has_an_owner_then_that_changes_before_the_database_is_made() -> None:
    plan = decide(credentials(owner="uid-1"), **RETAIN)
    assert written(plan)[1:3] == [
        "ensuring postgres secret: Amend Secret",
        "ensuring postgres statefulset: Apply StatefulSet",
    ]
    amend = plan.steps[1].write
    assert isinstance(amend, Amend)
    assert amend.patch["metadata"]["ownerReferences"] is None


def test_given_a_database_that_was_kept_under_another_id_then_the_instance_fails_and_touches_nothing() -> None:
    plan = decide(credentials(recorded=OLD), Volume.PRESENT)
    assert (plan.steps, plan.status.phase) == ((), "Failed")
    told = said(plan.status, "MetadataReady")
    assert told is not None
    assert told[1] == "InstanceIDChanged"
    assert f'spec.id is "{ID}"' in told[2]
    assert f'was written under "{OLD}"; remove spec.id to take over' in told[2]
    assert f"annotate Secret inst-metadata-postgres-creds with firebolt.io/instance-id={ID}" in told[2]


@pytest.mark.parametrize("recorded", [ID, ID.lower(), ""])
def test_given_a_database_that_was_kept_under_this_id_then_it_is_started(recorded: str) -> None:
    plan = decide(credentials(recorded=recorded), Volume.PRESENT, **RETAIN)
    assert "ensuring postgres statefulset: Apply StatefulSet" in written(plan)


def test_given_a_secret_with_an_id_but_no_volume_then_the_id_of_the_instance_is_written_over_it() -> None:
    """Somebody who may write Secrets can neither choose the id of an instance nor stop it."""
    amend = decide(credentials(recorded=OLD), **RETAIN).steps[1].write
    assert isinstance(amend, Amend)
    assert amend.patch["metadata"]["annotations"] == {names.ANNOTATION_INSTANCE_ID: ID}


@pytest.mark.parametrize("secret", [credentials(recorded=ID), SecretMissing(Volume.FOREIGN)])
def test_given_a_claim_of_somebody_else_then_no_database_is_started_on_it(secret: SecretView | SecretMissing) -> None:
    plan = decide(secret, Volume.FOREIGN)
    assert written(plan) == ["ensuring gateway accounts: Apply ConfigMap"]
    assert str(plan.problem) == (
        "MetadataReady (PostgresEnsureFailed): PersistentVolumeClaim ns/data-inst-metadata-pg-0 exists, not made for"
        " this instance; delete it, give the instance another name, or label it"
        " firebolt.io/instance=inst,firebolt.io/component=postgres if it holds this instance's database"
    )


def test_given_credentials_and_a_claim_on_its_way_out_then_nothing_is_started_on_it() -> None:
    plan = decide(credentials(recorded=ID), Volume.DELETING)
    assert (written(plan), plan.problem) == (["ensuring gateway accounts: Apply ConfigMap"], None)
    assert plan.reason == "waiting until PersistentVolumeClaim data-inst-metadata-pg-0 is deleted"


def test_given_a_database_of_the_users_own_then_what_was_kept_does_not_matter() -> None:
    plan = decide(credentials(recorded=OLD), postgres=EXTERNAL)
    assert plan.status.phase != "Failed"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (credentials(recorded=ID), True),
        (credentials(recorded=OLD), False),
        (credentials(), False),
        (credentials(recorded=ID, labels={}), False),
        (credentials(recorded=ID, owner="another"), False),
    ],
)
def test_whose_credentials_without_an_owner_are(found: SecretView, expected: bool) -> None:
    assert is_left_of(an_instance(), found.metadata) is expected


def test_credentials_that_were_kept_under_the_id_in_another_case_are_ours() -> None:
    kept = a_secret(
        metadata=ObjectMeta(
            name="inst-metadata-postgres-creds",
            namespace="ns",
            labels=OURS,
            annotations={names.ANNOTATION_INSTANCE_ID: ID.lower()},
        )
    )
    assert is_left_of(an_instance(id=ID), kept.metadata)
