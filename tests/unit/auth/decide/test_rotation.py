"""One step of a rotation from each state that it can be in, and when the next one is looked for."""

from datetime import timedelta

import pytest

from firebolt_operator.api.auth import AuthStatus
from firebolt_operator.api.names import EventReason, InstanceReason
from firebolt_operator.auth.decide.provisioning import decide_auth
from firebolt_operator.auth.decide.rotation import SLACK, STALLED_AFTER
from firebolt_operator.auth.decide.signing_keys import rendered_keys
from firebolt_operator.auth.facts import EngineKeys, Fleet
from firebolt_operator.auth.plan import AuthPlan, DeleteCertificate, DeleteSecret, EnsureCertificate
from firebolt_operator.look_again import After, AtOnce
from tests.support.auth import (
    DAY,
    a_fleet,
    a_key,
    a_situation,
    all_issued,
    an_auth_spec,
    holding,
    issued_key,
    keys_status,
)
from tests.support.engines import NOON

DUE = NOON - 30 * DAY
RETAINED = timedelta(hours=25)
NEW = a_key(2, "ValidationOnly")
OLD = a_key(1, "ValidationOnly", demoted_at=NOON - DAY)
SIGNS = a_key(2, "Active")
EXPIRED = a_key(1, "ValidationOnly", demoted_at=NOON - DAY, retire_eligible_at=NOON - RETAINED - SLACK)
GOING = a_key(1, "Removing", demoted_at=NOON - DAY, retire_eligible_at=NOON - DAY)


def step(status: AuthStatus, *engines: EngineKeys, **fields: object) -> AuthPlan:
    return decide_auth(a_situation(status, **{"fleet": a_fleet(*engines), **fields}))


def phases(plan: AuthPlan) -> dict[str, str]:
    assert plan.status is not None
    return {key.id: key.phase for key in plan.status.signing_keys}


def pending(plan: AuthPlan) -> tuple[str, list[str], int]:
    assert plan.status is not None
    return plan.status.pending_rotation_step, plan.status.lagging_engines, plan.status.lagging_engine_count


NOTHING: tuple[str, list[str], int] = ("", [], 0)


def test_given_a_key_that_is_not_due_then_it_is_looked_at_when_it_is() -> None:
    status = keys_status(a_key(created_at=NOON - DAY))
    plan = step(status, holding(1))
    assert (plan.status, plan.look_again) == (status, After(29 * DAY))
    assert plan.writes == (EnsureCertificate(a_key(created_at=NOON - DAY)),)


def test_given_a_key_that_is_due_then_a_certificate_is_asked_for_and_nothing_is_listed() -> None:
    status = keys_status(a_key(created_at=DUE))
    plan = step(status, holding(1), issued=all_issued(1))
    assert plan.status == status
    asked = plan.writes[-1]
    assert isinstance(asked, EnsureCertificate)
    assert (asked.key.id, asked.key.secret_name) == ("signing-2", "inst-auth-signing-signing-2")


def test_given_a_due_key_whose_successor_is_there_then_engines_are_told_to_accept_it() -> None:
    plan = step(keys_status(a_key(created_at=DUE)), holding(1))
    assert phases(plan) == {"signing-1": "Active", "signing-2": "ValidationOnly"}
    assert plan.status is not None
    assert plan.status.signing_key_generation == 2
    assert plan.status.signing_keys[1].created_at == NOON
    assert [key.id for key in rendered_keys(plan.status)] == ["signing-1", "signing-2"]
    # It is asked for all the same: somebody else may have, and would know the key.
    asked = plan.writes[-1]
    assert isinstance(asked, EnsureCertificate)
    assert (asked.key.id, asked.is_new) == ("signing-2", True)


def test_given_an_engine_without_the_new_key_then_it_does_not_sign_yet() -> None:
    plan = step(keys_status(a_key(), NEW), holding(1, name="stuck"), holding(1, 2))
    assert phases(plan) == {"signing-1": "Active", "signing-2": "ValidationOnly"}
    assert pending(plan) == ("AwaitingPromotion", ["stuck"], 1)
    assert (plan.verdict.status, plan.verdict.reason) == ("True", InstanceReason.ROTATION_WAITING_FOR_ENGINES)
    assert plan.verdict.message == (
        "signing key rotation is waiting at AwaitingPromotion for 1 engine(s) to converge: stuck"
    )


def test_given_every_engine_accepts_the_new_key_then_it_signs() -> None:
    plan = step(keys_status(a_key(), NEW), holding(1, 2))
    assert phases(plan) == {"signing-1": "ValidationOnly", "signing-2": "Active"}
    assert plan.status is not None
    assert (plan.status.signing_keys[0].demoted_at, plan.status.signing_keys[0].retire_eligible_at) == (NOON, None)
    assert [key.id for key in rendered_keys(plan.status)] == ["signing-2", "signing-1"]


def test_given_a_new_key_whose_secret_is_lost_then_it_does_not_sign() -> None:
    plan = step(keys_status(a_key(), NEW), holding(1, 2), issued=all_issued(1))
    assert phases(plan) == {"signing-1": "Active", "signing-2": "ValidationOnly"}


def test_given_an_engine_that_still_signs_with_the_old_key_then_its_retention_does_not_begin() -> None:
    plan = step(keys_status(OLD, SIGNS), holding(1, 2))
    assert pending(plan) == ("AwaitingRetireAnchor", ["sales"], 1)
    assert plan.status is not None
    assert plan.status.signing_keys[0].retire_eligible_at is None


def test_given_nobody_signs_with_the_old_key_then_its_retention_begins() -> None:
    plan = step(keys_status(OLD, SIGNS), holding(2, 1))
    assert pending(plan) == NOTHING
    assert plan.status is not None
    assert plan.status.signing_keys[0].retire_eligible_at == NOON


@pytest.mark.parametrize(
    ("left", "phase"),
    [
        pytest.param(timedelta(seconds=1), "ValidationOnly", id="a-second-before"),
        pytest.param(timedelta(0), "Removing", id="at-its-end"),
    ],
)
def test_retention_ends_on_the_second(left: timedelta, phase: str) -> None:
    old = a_key(1, "ValidationOnly", demoted_at=NOON, retire_eligible_at=NOON - RETAINED - SLACK + left)
    plan = step(keys_status(old, SIGNS), holding(2, 1))
    assert phases(plan)["signing-1"] == phase
    assert plan.look_again == (After(left) if left else AtOnce())


def test_given_nobody_says_how_long_then_the_old_key_stays() -> None:
    plan = step(keys_status(EXPIRED, SIGNS), holding(2, 1), spec=an_auth_spec(None, None))
    assert phases(plan)["signing-1"] == "ValidationOnly"


def test_given_an_anchor_that_lies_ahead_then_it_is_set_again() -> None:
    ahead = a_key(1, "ValidationOnly", demoted_at=NOON, retire_eligible_at=NOON + 300 * DAY)
    plan = step(keys_status(ahead, SIGNS), holding(2, 1))
    assert plan.status is not None
    assert plan.status.signing_keys[0].retire_eligible_at == NOON


def test_given_an_engine_that_holds_the_old_key_then_it_is_not_deleted() -> None:
    plan = step(keys_status(GOING, SIGNS), holding(2, 1))
    assert pending(plan) == ("AwaitingRemoval", ["sales"], 1)
    assert plan.writes == (EnsureCertificate(SIGNS),)
    assert [key.id for key in rendered_keys(plan.status)] == ["signing-2"]


def test_given_nobody_holds_the_old_key_then_certificate_secret_and_entry_go_in_this_order() -> None:
    plan = step(keys_status(GOING, SIGNS), holding(2))
    name = "inst-auth-signing"
    assert plan.writes == (
        EnsureCertificate(SIGNS),
        DeleteCertificate(name, "certificate-1"),
        DeleteSecret(name, "secret-1"),
    )
    assert plan.status == keys_status(SIGNS, counter=2)


def test_given_somebody_elses_secret_under_the_name_then_it_is_left_alone() -> None:
    issued = {**all_issued(2), "inst-auth-signing": issued_key(1, issued_for="")}
    plan = step(keys_status(GOING, SIGNS), holding(2), issued=issued)
    assert not [write for write in plan.writes if isinstance(write, DeleteSecret)]


@pytest.mark.parametrize("status", [keys_status(a_key(), NEW), keys_status(OLD, SIGNS), keys_status(GOING, SIGNS)])
def test_what_only_a_cache_says_is_confirmed_first(status: AuthStatus) -> None:
    plan = step(status, fleet=a_fleet(holding(2), is_live=False))
    assert (plan.needs_live_fleet, plan.status) == (True, status)


@pytest.mark.parametrize("status", [keys_status(a_key(), NEW), keys_status(OLD, SIGNS), keys_status(GOING, SIGNS)])
def test_a_parked_engine_is_in_nobodys_way(status: AuthStatus) -> None:
    plan = step(status, holding(1, may_run=False))
    assert pending(plan) == NOTHING
    assert plan.status != status


def test_an_engine_without_authentication_is_in_nobodys_way() -> None:
    assert phases(step(keys_status(a_key(), NEW), holding()))["signing-2"] == "Active"


def test_a_wait_is_counted_from_its_beginning_and_told_after_a_quarter_of_an_hour() -> None:
    since = NOON - STALLED_AFTER
    waiting = keys_status(a_key(), NEW, pending_rotation_step="AwaitingPromotion", pending_since=since)
    engines = [holding(1, name=f"e{index}") for index in range(7)]
    plan = step(waiting, *reversed(engines))
    assert pending(plan) == ("AwaitingPromotion", ["e0", "e1", "e2", "e3", "e4"], 7)
    assert plan.status is not None
    assert plan.status.pending_since == since
    (warning,) = plan.warnings
    assert warning.reason == EventReason.SIGNING_KEY_ROTATION_STALLED
    assert warning.note == (
        "signing key rotation is stuck at AwaitingPromotion; waiting for 7 engine(s): e0, e1, e2, e3, e4 (and 2 more)"
    )


def test_a_wait_of_another_step_begins_anew() -> None:
    waiting = keys_status(OLD, SIGNS, pending_rotation_step="AwaitingPromotion", pending_since=NOON - DAY)
    plan = step(waiting, holding(1, 2))
    assert plan.status is not None
    assert (plan.status.pending_since, plan.warnings) == (NOON, ())


def test_engines_that_cannot_be_read_stop_the_step_and_nothing_else() -> None:
    waiting = keys_status(a_key(), NEW, pending_rotation_step="AwaitingPromotion", pending_since=NOON - DAY)
    plan = step(waiting, fleet=Fleet(problem="the API server is away"))
    assert (plan.status, plan.verdict.status) == (waiting, "True")
    assert [warning.reason for warning in plan.warnings] == [EventReason.SIGNING_KEY_ROTATION_STEP_FAILED]


def test_the_order_of_the_list_means_nothing() -> None:
    forth = step(keys_status(a_key(), NEW), holding(1, 2))
    back = step(keys_status(NEW, a_key()), holding(1, 2))
    assert phases(forth) == phases(back)
    assert rendered_keys(forth.status) == rendered_keys(back.status)
