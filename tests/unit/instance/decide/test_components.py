"""What an instance does next: what it writes, in which order, and when it looks again."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.instance_id import mint_instance_id
from firebolt_operator.instance.decide.components import decide_instance, step_problem
from firebolt_operator.instance.decide.setup import decide_setup
from firebolt_operator.instance.facts import NOT_READY, Readiness, SecretMissing, Volume
from firebolt_operator.instance.plan import AT_ONCE, FAILED_REST, POLL, REST, Create, InstancePlan
from firebolt_operator.look_again import LookAgain
from firebolt_operator.refs import Manifest, Warn
from tests.support.instances import (
    EXTERNAL,
    ID,
    NOON,
    PASSWORD,
    a_ready_status,
    a_situation,
    an_instance,
    said,
    some_facts,
    written,
)

GUARD = ["ensuring gateway accounts: Apply ConfigMap"]
POSTGRES = ["ensuring postgres statefulset: Apply StatefulSet", "ensuring postgres service: Apply Service"]
METADATA = [
    "ensuring metadata configmap: Apply ConfigMap",
    "ensuring metadata deployment: Apply Deployment",
    "ensuring metadata service: Apply Service",
]
IDENTITY = [
    "ensuring gateway RBAC: Apply ServiceAccount",
    "ensuring gateway RBAC: Apply Role",
    "ensuring gateway RBAC: Apply RoleBinding",
]
GATEWAY = [
    "ensuring gateway configmap: Apply ConfigMap",
    "ensuring gateway deployment: Apply Deployment",
    "ensuring gateway service: Apply Service",
    "ensuring gateway pdb: Apply PodDisruptionBudget",
]
SECRET = ["ensuring postgres secret: Create Secret"]
NEW_ID = "01NEW000000000000000000000"
WISH = {"annotations": {names.ANNOTATION_CLEAR_FAILED: "true", "keep": "me"}}


def outcome(plan: InstancePlan) -> tuple[list[str], LookAgain, str]:
    return written(plan), plan.look_again, plan.reason


def test_given_a_fresh_instance_then_the_guard_and_the_secret_come_first_and_the_gateway_waits() -> None:
    facts = some_facts(credentials=SecretMissing(), metadata_service=NOT_READY, gateway=NOT_READY)
    plan = decide_instance(a_situation(facts=facts))
    assert outcome(plan) == (
        [*GUARD, *SECRET, *POSTGRES, *METADATA],
        POLL,
        "waiting for the metadata service",
    )
    create = plan.steps[1].write
    assert isinstance(create, Create)
    assert create.manifest["stringData"]["password"] == PASSWORD


def test_given_a_ready_metadata_service_then_the_gateway_is_made() -> None:
    plan = decide_instance(a_situation(facts=some_facts(gateway=NOT_READY)))
    expected = [*GUARD, *POSTGRES, *METADATA, *IDENTITY, *GATEWAY]
    assert outcome(plan) == (expected, REST, "waiting for the gateway")


@pytest.mark.parametrize(
    ("spec", "gateway", "is_settled"),
    [
        pytest.param({}, Readiness(is_ready=True), True, id="at-rest"),
        pytest.param({}, NOT_READY, False, id="on-its-way"),
        pytest.param({"auth": {"enabled": False}}, Readiness(is_ready=True), False, id="keys-are-renewed-in-time"),
        pytest.param({"tls": {}}, Readiness(is_ready=True), False, id="certificates-are-renewed-in-time"),
    ],
)
def test_only_an_instance_without_deadlines_is_settled(spec: Manifest, gateway: Readiness, is_settled: bool) -> None:
    plan = decide_instance(a_situation(an_instance(**spec), facts=some_facts(gateway=gateway)))
    assert plan.is_settled is is_settled


def test_given_a_database_of_the_users_own_then_none_is_made() -> None:
    instance = an_instance(status={"phase": "Provisioning"}, metadata={"postgres": EXTERNAL})
    plan = decide_instance(a_situation(instance, some_facts(metadata_service=NOT_READY)))
    assert written(plan) == [*GUARD, *METADATA]


def test_given_an_account_of_the_users_own_then_none_is_made() -> None:
    gateway = {"template": {"spec": {"serviceAccountName": "mine"}}}
    plan = decide_instance(a_situation(an_instance(status={"phase": "Provisioning"}, gateway=gateway)))
    assert written(plan) == [*GUARD, *POSTGRES, *METADATA, *GATEWAY]


def test_given_a_missing_external_secret_then_nothing_is_made_but_the_guard() -> None:
    instance = an_instance(status=a_ready_status(), metadata={"postgres": EXTERNAL})
    plan = decide_instance(a_situation(instance, some_facts(credentials=SecretMissing())))
    assert written(plan) == GUARD
    assert str(plan.problem) == "MetadataReady (PostgresSecretPreflightFailed): Secret ns/db-login not found"
    assert said(plan.status, "Ready") == (
        "False",
        "PostgresSecretPreflightFailed",
        "MetadataReady: Secret ns/db-login not found",
    )
    assert plan.status.phase == "Degraded"


def test_given_a_volume_that_is_going_away_then_nothing_is_made_but_the_guard_until_it_is_gone() -> None:
    facts = some_facts(credentials=SecretMissing(Volume.DELETING), metadata_service=NOT_READY, gateway=NOT_READY)
    plan = decide_instance(a_situation(facts=facts))
    assert (written(plan), plan.look_again, plan.problem) == (GUARD, POLL, None)


def test_given_an_unreadable_deployment_then_the_rest_is_written_before_the_pass_fails() -> None:
    plan = decide_instance(a_situation(facts=some_facts(gateway=Readiness(is_ready=False, problem="away"))))
    assert written(plan) == [*GUARD, *POSTGRES, *METADATA, *IDENTITY, *GATEWAY]
    assert str(plan.problem) == "GatewayReady (ProbeFailed): away"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (0, "GatewayReady (EnsureFailed): ensuring gateway accounts: refused"),
        (1, "MetadataReady (PostgresEnsureFailed): ensuring postgres statefulset: refused"),
        (3, "MetadataReady (EnsureFailed): ensuring metadata configmap: refused"),
        (6, "GatewayReady (EnsureFailed): ensuring gateway RBAC: refused"),
        (10, "GatewayReady (EnsureFailed): ensuring gateway deployment: refused"),
    ],
)
def test_what_a_failed_write_means(place: int, expected: str) -> None:
    step = decide_instance(a_situation()).steps[place]
    assert str(step_problem(step, "refused")) == expected


def failed(reason: str) -> Manifest:
    plan = decide_instance(a_situation(*LOST[reason]))
    return {
        "phase": plan.status.phase,
        "said": said(plan.status, "Ready"),
        "writes": written(plan),
        "endpoint": plan.status.metadata_endpoint,
        "again": plan.look_again,
        "warnings": plan.warnings,
        "problem": plan.problem,
    }


LOST = {
    "PostgresCredentialsLost": (
        an_instance(status=a_ready_status()),
        some_facts(credentials=SecretMissing(Volume.PRESENT)),
    ),
    "InstanceIDChanged": (an_instance(status=a_ready_status(instanceID="01OLD")), some_facts()),
}
WORDS = {
    "PostgresCredentialsLost": (
        "Secret ns/inst-metadata-postgres-creds is gone, but the database's volume ns/data-inst-metadata-pg-0 exists"
        " and opens to the lost password only; restore the Secret, or start with an empty database: delete StatefulSet"
        " inst-metadata-pg (it would make the volume anew), then the PersistentVolumeClaim; then annotate the"
        " FireboltInstance with firebolt.io/clear-failed=true"
    ),
    "InstanceIDChanged": (
        f'spec.id is "{ID}", but engines know this instance as "01OLD"; remove spec.id to have the published id put'
        " back, or keep the new one; then annotate the FireboltInstance with firebolt.io/clear-failed=true"
    ),
}


@pytest.mark.parametrize("reason", ["PostgresCredentialsLost", "InstanceIDChanged"])
def test_what_no_pass_can_cure_fails_for_good(reason: str) -> None:
    assert failed(reason) == {
        "phase": "Failed",
        "said": ("False", reason, f"MetadataReady: {WORDS[reason]}"),
        "writes": [],
        "endpoint": "",
        "again": FAILED_REST,
        "warnings": (Warn(reason=reason, action="Reconcile", note=WORDS[reason]),),
        "problem": None,
    }
    plan = decide_instance(a_situation(*LOST[reason]))
    assert said(plan.status, "MetadataReady") == ("False", reason, WORDS[reason])
    assert plan.reason == f"{reason}: {WORDS[reason]}"


@pytest.mark.parametrize("reason", ["PostgresCredentialsLost", "InstanceIDChanged"])
def test_given_failed_then_nothing_is_written_whatever_is_seen(reason: str) -> None:
    before = decide_instance(a_situation(*LOST[reason])).status
    plan = decide_instance(a_situation(an_instance(status=before)))
    assert (plan.status, outcome(plan)) == (
        before,
        ([], FAILED_REST, "failed until a person clears it"),
    )
    assert plan.warnings == ()


def test_given_failed_then_a_gateway_that_goes_down_is_still_taken_off() -> None:
    plan = decide_instance(
        a_situation(an_instance(status=a_ready_status(phase="Failed")), some_facts(gateway=NOT_READY))
    )
    assert (plan.status.phase, plan.status.gateway_endpoint) == ("Failed", "")
    assert plan.status.metadata_endpoint != ""


def test_given_an_external_database_then_lost_internal_credentials_do_not_matter() -> None:
    instance = an_instance(status=a_ready_status(), metadata={"postgres": EXTERNAL})
    plan = decide_instance(a_situation(instance, some_facts(credentials=SecretMissing(Volume.PRESENT))))
    assert plan.status.phase == "Degraded"


def setup_of(instance: FireboltInstance) -> tuple[Manifest | None, InstanceStatus] | None:
    plan = decide_setup(instance, new_id=NEW_ID, now=NOON)
    if plan is None:
        return None
    assert (plan.look_again, plan.steps) == (AT_ONCE, ())
    return plan.patch, plan.status


def test_upkeep_takes_one_step_at_a_time() -> None:
    fresh = an_instance(meta={"finalizers": ["other"]}, id="")
    assert setup_of(fresh) == ({"metadata": {"finalizers": ["other", names.FINALIZER_INSTANCE]}}, InstanceStatus())
    guarded = an_instance(id="")
    assert setup_of(guarded) == ({"spec": {"id": NEW_ID}}, InstanceStatus())
    begun = setup_of(an_instance())
    assert begun is not None
    assert (begun[0], begun[1].phase) == (None, "Provisioning")
    assert setup_of(an_instance(status={"phase": "Provisioning"})) is None
    assert setup_of(an_instance(status={"phase": "Failed"})) is None


@pytest.mark.parametrize(
    ("instance", "reason"),
    [
        (an_instance(meta={"finalizers": []}), "adding the finalizer"),
        (an_instance(id=""), "giving the instance its id"),
        (an_instance(), "provisioning begins"),
        (an_instance(meta=WISH, status={"phase": "Failed"}), "Failed was cleared by a person"),
        (an_instance(meta=WISH, status={"phase": "Ready"}), "removing the wish to clear Failed"),
    ],
)
def test_the_log_tells_why_an_instance_is_seen_to(instance: FireboltInstance, reason: str) -> None:
    plan = decide_setup(instance, new_id=NEW_ID, now=NOON)
    assert plan is not None
    assert plan.reason == reason


@pytest.mark.parametrize("phase", ["Ready", "Failed"])
def test_given_a_removed_id_then_the_published_one_is_put_back(phase: str) -> None:
    instance = an_instance(meta=WISH, id="", status=a_ready_status(phase=phase))
    assert setup_of(instance) == ({"spec": {"id": ID}}, instance.status)


def test_given_the_wish_to_clear_failed_then_the_phase_goes_first_and_the_wish_second() -> None:
    instance = an_instance(meta=WISH, status=a_ready_status(phase="Failed", instanceID="01OLD"))
    first = setup_of(instance)
    assert first is not None
    patch, status = first
    assert patch is None
    assert (status.phase, status.instance_id) == ("Provisioning", "")
    second = setup_of(an_instance(meta=WISH, status=status))
    assert second == ({"metadata": {"annotations": {names.ANNOTATION_CLEAR_FAILED: None}}}, status)


@pytest.mark.parametrize("value", ["", "false", "True", "yes"])
def test_only_true_clears(value: str) -> None:
    meta = {"annotations": {names.ANNOTATION_CLEAR_FAILED: value}}
    assert setup_of(an_instance(meta=meta, status={"phase": "Failed"})) is None


def test_given_a_cleared_instance_then_the_facts_decide_anew() -> None:
    cleared = a_ready_status(phase="Provisioning", instanceID="")
    accepted = decide_instance(a_situation(an_instance(status=cleared)))
    assert (accepted.status.phase, accepted.status.instance_id) == ("Ready", ID)
    lost = some_facts(credentials=SecretMissing(Volume.PRESENT))
    assert decide_instance(a_situation(an_instance(status=cleared), lost)).status.phase == "Failed"


def test_an_id_is_a_ulid_of_its_time() -> None:
    minted = partial(mint_instance_id, is_lower=False)
    example = datetime(2016, 7, 30, 22, 36, 16, 385_000, tzinfo=UTC)
    assert minted(example, bytes(10)) == "01ARYZ6S410000000000000000"
    assert minted(NOON + timedelta(milliseconds=1), bytes(10)) > minted(NOON, b"\xff" * 10)
    assert len(minted(NOON, b"\xff" * 10)) == 26
    assert mint_instance_id(example, bytes(10), is_lower=True) == "01aryz6s410000000000000000"
    with pytest.raises(RuntimeError):
        minted(NOON, bytes(9))
