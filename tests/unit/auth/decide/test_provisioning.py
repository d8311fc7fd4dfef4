"""Is authentication ready? The words of AuthReady, what is recorded of keys, and where keys may come from."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.auth import AdminSpec, AuthSpec, AuthStatus, SecretKeySelector, SigningKeyStatus
from firebolt_operator.api.names import EventReason, InstanceReason, signing_key_name
from firebolt_operator.auth.decide.provisioning import decide_auth
from firebolt_operator.auth.held_keys import HeldKey, format_held_keys, parse_held_keys
from firebolt_operator.auth.plan import DeleteCertificate, DeleteSecret, EnsureCertificate
from firebolt_operator.look_again import WHEN_CHANGED
from firebolt_operator.manifests.issued import Issued
from tests.support.auth import a_fleet, a_key, a_situation, all_issued, an_auth_spec, holding, issued_key, keys_status
from tests.support.engines import NOON

NAME = "inst-auth-signing"
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("spec", [None, AuthSpec()])
def test_given_authentication_is_off_then_only_the_number_of_keys_is_remembered(spec: AuthSpec | None) -> None:
    plan = decide_auth(a_situation(keys_status(a_key(3), counter=3), spec=spec))
    assert plan.status == AuthStatus(signing_key_generation=3)
    assert (plan.verdict.status, plan.verdict.reason) == ("True", InstanceReason.DISABLED)
    assert (plan.writes, plan.look_again) == ((), WHEN_CHANGED)
    assert decide_auth(a_situation(None, spec=spec)).status is None


def test_given_it_is_turned_on_again_then_no_key_comes_back() -> None:
    plan = decide_auth(a_situation(AuthStatus(signing_key_generation=3), issued=all_issued(1, 2, 3, 4)))
    assert plan.status is not None
    assert [key.id for key in plan.status.signing_keys] == ["signing-4"]
    assert plan.status.signing_key_generation == 4


def test_given_a_first_key_that_is_there_then_it_is_asked_for_all_the_same_because_somebody_else_may_have() -> None:
    plan = decide_auth(a_situation(None, issued=all_issued(1)))
    assert plan.status is not None
    [asked] = plan.writes
    assert isinstance(asked, EnsureCertificate)
    assert (asked.key.secret_name, asked.is_new) == (NAME, True)


def test_given_a_spec_that_is_wrong_then_keys_and_counter_stay() -> None:
    status = keys_status(a_key())
    plan = decide_auth(a_situation(status, spec=an_auth_spec(retain="24h")))
    assert (plan.status, plan.writes, plan.verdict.status) == (status, (), "False")
    assert plan.verdict.reason == InstanceReason.AUTH_SPEC_INVALID
    assert "24h0m30s" in plan.verdict.message


@pytest.mark.parametrize(
    "name",
    ["other-metadata-postgres-creds", "other-auth-signing-signing-2", "eng-g1-engine-tls", "other-gateway-tls"],
)
def test_given_a_password_in_a_secret_of_a_neighbour_then_nothing_is_made_of_it(name: str) -> None:
    spec = an_auth_spec(admin=AdminSpec(password=SecretKeySelector(name=name, key="password")))
    plan = decide_auth(a_situation(spec=spec))
    assert (plan.verdict.reason, plan.status, plan.writes) == (InstanceReason.AUTH_SPEC_INVALID, None, ())
    assert f'must not name "{name}"' in plan.verdict.message


def test_given_no_password_then_no_certificate_is_asked_for() -> None:
    problem = "admin password secret ns/admin-credentials not found"
    plan = decide_auth(a_situation(admin_problem=problem))
    assert (plan.verdict.reason, plan.verdict.message) == (InstanceReason.ADMIN_SECRET_MISSING, problem)
    assert (plan.status, plan.writes) == (None, ())


def test_given_a_first_key_that_is_not_issued_then_it_is_asked_for_and_not_recorded() -> None:
    plan = decide_auth(a_situation(issued={}))
    assert (plan.status, plan.verdict.reason) == (None, InstanceReason.SIGNING_KEY_PENDING)
    (asked,) = plan.writes
    assert isinstance(asked, EnsureCertificate)
    assert (asked.key.secret_name, asked.key.algorithm, asked.key.size) == (NAME, "ECDSA", 384)


def test_given_a_first_key_that_is_issued_then_it_is_recorded_as_it_was_seen() -> None:
    plan = decide_auth(a_situation())
    assert plan.status == keys_status(a_key(created_at=NOON))
    assert (plan.verdict.status, plan.verdict.reason) == ("True", InstanceReason.READY)


def test_given_a_key_without_a_phase_then_it_signs() -> None:
    plan = decide_auth(a_situation(keys_status(a_key(phase="", algorithm="", size=0))))
    assert plan.status == keys_status(a_key())


@pytest.mark.parametrize(
    ("issued", "is_usable"),
    [
        pytest.param(issued_key(), True, id="as-old-as-its-certificate"),
        pytest.param(issued_key(made=NOON - SECOND), False, id="older"),
        pytest.param(issued_key(issued_for="another"), False, id="issued-for-another"),
        pytest.param(issued_key(filled=frozenset()), False, id="without-a-key"),
        pytest.param(issued_key(public_key=""), False, id="certificate-cannot-be-read"),
        pytest.param(Issued(secret=issued_key().secret), False, id="without-a-certificate"),
    ],
)
def test_a_new_key_is_used_if_it_was_made_for_us(issued: Issued, *, is_usable: bool) -> None:
    plan = decide_auth(a_situation(issued={NAME: issued}))
    assert (plan.status is not None, plan.verdict.status) == (is_usable, "True" if is_usable else "False")


def test_a_planted_key_is_refused_and_told() -> None:
    plan = decide_auth(a_situation(issued={NAME: issued_key(made=NOON - SECOND)}))
    assert plan.verdict.reason == InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED
    assert plan.verdict.message.startswith(
        "signing key secret inst-auth-signing: signing key secret predates the certificate that would issue it: "
        'secret created 2026-04-29T11:59:59Z, certificate "inst-auth-signing" created 2026-04-29T12:00:00Z'
    )
    assert [warning.reason for warning in plan.warnings] == [EventReason.SIGNING_KEY_PROVENANCE_REJECTED]


@pytest.mark.parametrize(
    "issued",
    [
        pytest.param(issued_key(made=NOON - SECOND), id="its-certificate-was-made-again"),
        pytest.param(Issued(secret=issued_key().secret), id="its-certificate-is-gone"),
    ],
)
def test_a_key_that_was_witnessed_stays_in_use(issued: Issued) -> None:
    plan = decide_auth(a_situation(keys_status(a_key()), issued={NAME: issued}))
    assert (plan.verdict.status, plan.warnings) == ("True", ())


def test_without_cert_manager_known_keys_stay_in_use_and_nothing_is_asked_of_it() -> None:
    plan = decide_auth(
        a_situation(
            keys_status(a_key(created_at=NOON - timedelta(days=60))), has_cert_manager=False, issued=all_issued(1)
        )
    )
    assert (plan.verdict.status, plan.writes) == ("True", ())
    first = decide_auth(a_situation(has_cert_manager=False, issued={}))
    assert (first.writes, first.verdict.reason) == ((), InstanceReason.SIGNING_KEY_PENDING)
    assert "not installed" in first.verdict.message


REPLACED = issued_key(public_key="other")


def test_a_witnessed_key_that_is_another_one_now_is_lost_and_its_id_never_comes_back() -> None:
    plan = decide_auth(a_situation(keys_status(a_key()), issued={NAME: REPLACED}))
    assert plan.status == keys_status(counter=1)
    assert (plan.verdict.status, plan.verdict.reason) == ("False", InstanceReason.SIGNING_KEY_PENDING)
    assert plan.writes == (DeleteCertificate(NAME, "certificate-1"), DeleteSecret(NAME, "secret-1"))
    assert [warning.reason for warning in plan.warnings] == [EventReason.SIGNING_KEY_MATERIAL_REGENERATED]
    asked = decide_auth(a_situation(plan.status, issued={NAME: REPLACED}))
    assert [write.key.id for write in asked.writes if isinstance(write, EnsureCertificate)] == ["signing-2"]
    again = decide_auth(a_situation(plan.status, issued=all_issued(2)))
    assert again.status == keys_status(a_key(2, created_at=NOON), counter=2)


@pytest.mark.parametrize(
    "replaced",
    [
        pytest.param(REPLACED, id="as-if-issued"),
        pytest.param(issued_key(public_key="other", issued_for="another"), id="for-another"),
        pytest.param(Issued(secret=REPLACED.secret), id="without-a-certificate"),
    ],
)
def test_a_lost_key_is_never_recorded_whatever_its_secret_claims(replaced: Issued) -> None:
    plan = decide_auth(a_situation(keys_status(a_key()), issued={NAME: replaced}))
    assert plan.status == keys_status(counter=1)


def test_a_key_is_not_called_lost_by_a_cache() -> None:
    status = keys_status(a_key())
    plan = decide_auth(a_situation(status, issued={NAME: REPLACED}, fleet=a_fleet(is_live=False)))
    assert (plan.status, plan.writes, plan.needs_live_fleet) == (status, (), True)


@pytest.mark.parametrize(
    ("lost", "left"),
    [
        pytest.param(2, a_key(1), id="the-one-that-signed"),
        pytest.param(1, a_key(2), id="the-one-that-was-kept"),
    ],
)
def test_when_one_of_two_keys_is_lost_then_the_other_signs(lost: int, left: SigningKeyStatus) -> None:
    status = keys_status(a_key(2), a_key(1, "ValidationOnly", demoted_at=NOON - SECOND, retire_eligible_at=NOON))
    issued = {**all_issued(1, 2), signing_key_name("inst", lost): issued_key(lost, public_key="other")}
    plan = decide_auth(a_situation(status, issued=issued))
    assert (plan.status, plan.verdict.status) == (keys_status(left, counter=2), "True")
    name = signing_key_name("inst", lost)
    assert plan.writes == (DeleteCertificate(name, f"certificate-{lost}"), DeleteSecret(name, f"secret-{lost}"))


def test_a_key_that_was_not_witnessed_is_asked_for_as_new_and_a_known_one_is_not() -> None:
    assert [write.is_new for write in asked_for(None, issued={})] == [True]
    assert [write.is_new for write in asked_for(keys_status(a_key()))] == [False]
    due = keys_status(a_key(created_at=NOON - timedelta(days=60)))
    assert [write.is_new for write in asked_for(due, issued=all_issued(1))] == [False, True]


def asked_for(status: AuthStatus | None, **fields: Any) -> list[EnsureCertificate]:
    plan = decide_auth(a_situation(status, **fields))
    return [write for write in plan.writes if isinstance(write, EnsureCertificate)]


def test_a_planted_successor_stops_every_engine_that_would_mount_it() -> None:
    status = keys_status(a_key(), a_key(2, "ValidationOnly", observed_public_key_fingerprint=""))
    issued = {**all_issued(1), "inst-auth-signing-signing-2": issued_key(2, made=NOON - SECOND)}
    plan = decide_auth(a_situation(status, issued=issued, fleet=a_fleet(holding(1, 2))))
    assert plan.verdict.reason == InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED


def test_what_a_generation_holds_is_read_as_it_was_written() -> None:
    keys = (HeldKey("signing-2", "abc"), HeldKey("signing-1", "def"))
    assert format_held_keys(keys) == "signing-2=abc,signing-1=def"
    assert parse_held_keys(format_held_keys(keys)) == keys
    assert parse_held_keys("") == ()
