"""What an instance says of its authentication when something failed: nothing that works is called broken."""

from dataclasses import replace
from typing import Any

import pytest

from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.auth.decide.outcome import carried_out, not_carried_out, not_read
from firebolt_operator.auth.decide.provisioning import PENDING, decide_auth
from firebolt_operator.errors import OperatorError, RejectedError, TransientError
from tests.support.auth import a_key, a_situation, keys_status
from tests.support.instances import a_condition, an_instance

REFUSED = OperatorError("refused")
AWAY = TransientError("no answer")


def a_status(*conditions: dict[str, Any], has_key: bool = True) -> InstanceStatus:
    auth = keys_status(a_key()) if has_key else None
    status = an_instance(status={"conditions": list(conditions)}).status
    return InstanceStatus(auth=auth, conditions=status.conditions)


def test_what_was_decided_is_what_the_pass_goes_on_with() -> None:
    plan = decide_auth(a_situation(keys_status(a_key())))
    outcome = carried_out(plan)
    assert (outcome.status, outcome.verdict, outcome.error) == (plan.status, plan.verdict, None)


def test_a_failed_write_takes_nothing_from_a_key_that_signs_but_is_told() -> None:
    before = a_status()
    plan = replace(decide_auth(a_situation(before.auth)), status=None)
    outcome = not_carried_out(plan, before, REFUSED)
    assert (outcome.status, outcome.verdict, outcome.error) == (before.auth, plan.verdict, REFUSED)
    assert [warning.reason for warning in outcome.warnings] == ["SigningKeyRotationStepFailed"]


@pytest.mark.parametrize("verdict", [None, PENDING], ids=["first-key", "key-is-lost"])
def test_a_failed_write_before_any_key_signs_is_what_authentication_waits_for(verdict: Any) -> None:
    before = a_status(has_key=verdict is not None)
    plan = decide_auth(a_situation(before.auth))
    outcome = not_carried_out(plan if verdict is None else replace(plan, verdict=verdict), before, REFUSED)
    assert (outcome.verdict.status, outcome.verdict.reason) == ("False", "SigningCertificateEnsureFailed")
    assert (outcome.verdict.message, outcome.status, outcome.warnings) == ("refused", before.auth, plan.warnings)


@pytest.mark.parametrize(
    ("error", "known", "expected"),
    [
        pytest.param(AWAY, ("True", "Ready"), ("True", "Ready"), id="nobody-knows-better"),
        pytest.param(AWAY, ("False", "SigningKeyPending"), ("False", "SigningKeyPending"), id="nor-worse"),
        pytest.param(AWAY, ("True", "Disabled"), ("False", "SigningCertificateEnsureFailed"), id="just-turned-on"),
        pytest.param(AWAY, None, ("False", "SigningCertificateEnsureFailed"), id="never-looked"),
        pytest.param(
            RejectedError("forbidden", status=403),
            ("True", "Ready"),
            ("False", "SigningCertificateEnsureFailed"),
            id="it-will-say-no-again",
        ),
    ],
)
def test_what_could_not_be_read(error: OperatorError, known: tuple[str, str] | None, expected: tuple[str, str]) -> None:
    conditions = [a_condition("AuthReady", *known)] if known else []
    before = a_status(*conditions)
    outcome = not_read(before, error)
    assert (outcome.verdict.status, outcome.verdict.reason) == expected
    assert (outcome.status, outcome.error) == (before.auth, error)
