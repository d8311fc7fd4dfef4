"""Does an instance get on by itself, or does it wait for a person? And which spec does its status speak of?"""

from dataclasses import replace
from typing import Any

import pytest

from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.api.names import ANNOTATION_CLEAR_FAILED
from firebolt_operator.instance.decide.components import decide_instance, status_after, step_problem
from firebolt_operator.instance.decide.setup import decide_setup
from firebolt_operator.instance.facts import NOT_READY, InstanceFacts, SecretMissing, SecretUnreadable, Volume
from firebolt_operator.instance.plan import Apply, Problem, Refuse, Stage, Step
from firebolt_operator.refs import Manifest
from tests.support.admission import auth
from tests.support.instances import (
    EXTERNAL,
    NOON,
    a_ready_status,
    a_secret,
    a_situation,
    an_instance,
    said,
    some_facts,
)

REJECTED: Manifest = {"gateway": {"template": {"spec": {"hostname": "x"}}}}
TLS: Manifest = {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}
UNSOUND: Manifest = {"enabled": True}
AUTH: Manifest = {"enabled": True}
LOST = some_facts(credentials=SecretMissing(Volume.PRESENT))


def progress(status: InstanceStatus) -> dict[str, str]:
    """Which of the two conditions is there, and its reason; both are only ever there as true."""
    found = {kind: said(status, kind) for kind in ("Stalled", "Reconciling")}
    assert {each[0] for each in found.values() if each} <= {"True"}
    return {kind: each[1] for kind, each in found.items() if each}


@pytest.mark.parametrize(
    ("spec", "facts", "expected"),
    [
        pytest.param({}, some_facts(), {}, id="it-has-arrived"),
        pytest.param({}, some_facts(metadata_service=NOT_READY), {"Reconciling": "Provisioning"}, id="metadata-starts"),
        pytest.param({}, some_facts(gateway=NOT_READY), {"Reconciling": "Provisioning"}, id="the-gateway-starts"),
        pytest.param(
            {},
            some_facts(credentials=SecretMissing(Volume.DELETING)),
            {"Reconciling": "Provisioning"},
            id="a-volume-goes",
        ),
        pytest.param(
            {"metadata": {"postgres": EXTERNAL}},
            some_facts(credentials=SecretMissing()),
            {"Reconciling": "PostgresSecretPreflightFailed"},
            id="a-secret-that-may-still-come",
        ),
        pytest.param(
            {},
            some_facts(credentials=SecretUnreadable("forbidden")),
            {"Reconciling": "PostgresEnsureFailed"},
            id="a-secret-that-cannot-be-read-now",
        ),
        pytest.param(
            {}, some_facts(credentials=a_secret(type="x")), {"Stalled": "PostgresEnsureFailed"}, id="malformed-secret"
        ),
        pytest.param({}, LOST, {"Stalled": "PostgresCredentialsLost"}, id="lost-credentials"),
        pytest.param({"id": "01OTHER"}, some_facts(), {"Stalled": "InstanceIDChanged"}, id="another-id"),
        pytest.param(REJECTED, some_facts(), {"Stalled": "TemplateRejected"}, id="rejected-template"),
        pytest.param(
            REJECTED,
            some_facts(metadata_service=NOT_READY),
            {"Stalled": "TemplateRejected"},
            id="rejected-while-starting",
        ),
        pytest.param({"tls": {"gateway": UNSOUND}}, some_facts(), {"Stalled": "TLSSpecInvalid"}, id="tls-not-valid"),
        pytest.param({"tls": {"gateway": TLS}}, some_facts(), {"Reconciling": "StagingFailClosed"}, id="tls-to-come"),
        pytest.param({"auth": AUTH}, some_facts(), {"Stalled": "AuthSpecInvalid"}, id="auth-that-ready-ignores"),
        pytest.param(auth.auth(), some_facts(), {"Reconciling": "SigningKeyPending"}, id="a-key-that-is-on-its-way"),
    ],
)
def test_standing(spec: dict[str, Any], facts: InstanceFacts, expected: dict[str, str]) -> None:
    instance = an_instance(status=a_ready_status(), **spec)
    status = decide_instance(a_situation(instance, facts)).status
    assert progress(status) == expected
    assert status.observed_generation == instance.metadata.generation


def test_given_an_id_that_no_file_can_hold_then_it_is_stalled() -> None:
    unwritable = "\u0001"
    instance = an_instance(id=unwritable, status=a_ready_status(instanceID=unwritable))
    assert progress(decide_instance(a_situation(instance)).status) == {"Stalled": "EnsureFailed"}


def test_given_a_stalled_instance_then_its_message_is_that_of_the_condition_to_mend() -> None:
    status = decide_instance(a_situation(an_instance(**REJECTED), some_facts(metadata_service=NOT_READY))).status
    words = "spec.gateway.template.spec.hostname: Forbidden: hostname is owned by the operator"
    assert said(status, "Stalled") == ("True", "TemplateRejected", f"GatewayReady: {words}")


@pytest.mark.parametrize("needs_person", [True, False])
def test_a_refused_write_stalls_only_if_trying_again_does_not_help(needs_person: bool) -> None:
    problem = Problem(
        stage=Stage.GATEWAY,
        condition="GatewayReady",
        reason="EnsureFailed",
        message="x" * 50_000,
        needs_person=needs_person,
    )
    status = status_after(a_situation(), problem)
    assert progress(status) == {"Stalled" if needs_person else "Reconciling": "EnsureFailed"}
    assert all(len(each.message) < 32_768 for each in status.conditions)


def test_given_somebody_elses_object_then_only_a_person_helps() -> None:
    situation = a_situation()
    (first, *_) = situation.blueprint.gateway()
    refuse = Refuse(first.manifest, "Deployment ns/inst-gateway exists and has no owner")
    steps = [
        Step(doing="ensuring it", stage=Stage.GATEWAY, reason="EnsureFailed", write=write)
        for write in (refuse, Apply(first.manifest))
    ]
    assert [step_problem(step, "why").needs_person for step in steps] == [True, False]


def test_given_failed_then_it_stays_stalled_until_a_person_clears_it() -> None:
    failed = decide_instance(a_situation(an_instance(status=a_ready_status()), LOST)).status
    later = a_situation(an_instance(status=failed, meta={"generation": 4}))
    still = decide_instance(later).status
    assert (progress(still), still.observed_generation) == ({"Stalled": "PostgresCredentialsLost"}, 4)
    wish = {"generation": 4, "annotations": {ANNOTATION_CLEAR_FAILED: "true"}}
    cleared = decide_setup(an_instance(status=still, meta=wish), new_id="", now=NOON)
    assert cleared is not None
    assert progress(cleared.status) == {"Reconciling": "Provisioning"}
    assert progress(decide_instance(replace(later, instance=an_instance(status=cleared.status))).status) == {}


def test_a_new_instance_is_on_its_way_from_its_first_status_on() -> None:
    begun = decide_setup(an_instance(), new_id="", now=NOON)
    assert begun is not None
    assert (begun.status.phase, begun.status.observed_generation) == ("Provisioning", 3)
    assert progress(begun.status) == {"Reconciling": "Provisioning"}
