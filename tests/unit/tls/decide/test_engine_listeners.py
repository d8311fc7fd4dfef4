"""Do engines speak TLS? Every row of the decision, and what an engine that comes or goes must not change."""

from typing import Any

import pytest

from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.tls import EngineTLSStatus, TLSListener
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret
from firebolt_operator.tls.decide.engine_listeners import EngineTLSPlan, decide_engine_tls
from firebolt_operator.tls.decide.renewal import ServingCertificate, is_renewed
from firebolt_operator.tls.facts import EngineListener, EngineTLSSituation, Listeners
from tests.support.engines import NOON

ANCHOR = "inst-engine-tls"
ON, OFF = TLSListener(enabled=True), TLSListener()
SECURE = EngineListener(name="secure", tls_hash="now")
OLDER = EngineListener(name="older", tls_hash="before")
PLAIN = EngineListener(name="plain", tls_hash="")
PARKED = EngineListener(name="parked", tls_hash="", has_pods=False)
ALL_KEYS = frozenset({"tls.crt", "tls.key", "ca.crt"})


def anchor(*, is_ready: bool = True, filled: frozenset[str] = ALL_KEYS, issued_for: str = ANCHOR) -> Issued:
    return Issued(
        certificate=IssuedCertificate(uid="c", created_at=NOON, generation=2, ready_generation=2 if is_ready else 1),
        secret=IssuedSecret(uid="s", created_at=NOON, filled=filled, issued_for=issued_for),
    )


def provisioned(*, reencrypting: bool) -> EngineTLSStatus:
    return EngineTLSStatus(secret_name=ANCHOR, created_at=NOON, reencrypting=reencrypting)


def decide(listener: TLSListener | None, *engines: EngineListener, **fields: Any) -> EngineTLSPlan:
    described: dict[str, Any] = {
        "status": None,
        "anchor": anchor(),
        "listeners": Listeners(engines=engines),
        **fields,
    }
    return decide_engine_tls(
        EngineTLSSituation(listener=listener, now=NOON, expected_hash="now", anchor_name=ANCHOR, **described)
    )


def told(plan: EngineTLSPlan) -> tuple[str, str, bool | None]:
    return plan.verdict.status, plan.verdict.reason, plan.status.reencrypting if plan.status else None


@pytest.mark.parametrize(
    ("engines", "before", "expected"),
    [
        pytest.param((), None, ("True", InstanceReason.READY, True), id="no-engine-at-all"),
        pytest.param((PLAIN,), None, ("False", InstanceReason.CONVERGING, False), id="not-rolled-yet"),
        pytest.param((SECURE, PLAIN), None, ("False", InstanceReason.CONVERGING, False), id="some-are"),
        pytest.param((SECURE,), None, ("True", InstanceReason.READY, True), id="all-are"),
        pytest.param((SECURE, PARKED), None, ("True", InstanceReason.READY, True), id="nobody-talks-to-a-parked-one"),
        pytest.param((OLDER,), None, ("False", InstanceReason.CONVERGING, True), id="all-are-with-older-settings"),
        pytest.param((SECURE, PLAIN), True, ("False", InstanceReason.CONVERGING, True), id="a-newcomer-is-no-news"),
        pytest.param((SECURE, OLDER), True, ("False", InstanceReason.CONVERGING, True), id="nor-does-another-key-size"),
        pytest.param((PLAIN,), True, ("False", InstanceReason.CONVERGING, False), id="none-is-any-more"),
    ],
)
def test_the_gateway_speaks_tls_once_all_engines_do(
    engines: tuple[EngineListener, ...], *, before: bool | None, expected: tuple[str, str, bool]
) -> None:
    status = None if before is None else provisioned(reencrypting=before)
    assert told(decide(ON, *engines, status=status)) == expected


def test_an_engine_that_still_drains_plaintext_is_not_there_yet() -> None:
    draining = EngineListener(name="draining", tls_hash="now", is_drained=False)
    assert told(decide(ON, draining)) == ("False", InstanceReason.CONVERGING, False)


@pytest.mark.parametrize(
    ("issued", "reason"),
    [
        pytest.param(Issued(), InstanceReason.CERTIFICATE_PENDING, id="nothing"),
        pytest.param(anchor(is_ready=False), InstanceReason.CERTIFICATE_PENDING, id="ready-for-an-older-request"),
        pytest.param(
            anchor(filled=frozenset({"tls.crt", "tls.key"})), InstanceReason.CERTIFICATE_PENDING, id="without-a-ca"
        ),
        pytest.param(anchor(issued_for="another"), InstanceReason.CERTIFICATE_ENSURE_FAILED, id="of-another"),
    ],
)
def test_an_anchor_that_is_not_there_leaves_everything_as_it_was(issued: Issued, reason: str) -> None:
    before = provisioned(reencrypting=True)
    plan = decide(ON, SECURE, status=before, anchor=issued)
    assert (plan.status, plan.verdict.reason, plan.ensures_anchor) == (before, reason, True)


def test_a_wrong_spec_is_told_and_changes_nothing() -> None:
    before = provisioned(reencrypting=True)
    plan = decide(OFF, SECURE, status=before, spec_problem="no")
    assert (plan.status, plan.verdict.reason) == (before, InstanceReason.TLS_SPEC_INVALID)


@pytest.mark.parametrize("listener", [OFF, None], ids=["turned-off", "taken-out"])
def test_the_gateway_speaks_tls_until_no_engine_does(listener: TLSListener | None) -> None:
    before = provisioned(reencrypting=True)
    assert told(decide(listener, SECURE, PLAIN, status=before)) == ("False", InstanceReason.DRAINING, True)
    assert told(decide(listener, PLAIN, status=before)) == ("True", InstanceReason.DISABLED, None)
    assert told(decide(listener, PLAIN)) == ("True", InstanceReason.DISABLED, None)


def test_engines_that_cannot_be_read_change_nothing() -> None:
    before, away = provisioned(reencrypting=True), Listeners(problem="away")
    on, off = (decide(listener, status=before, listeners=away) for listener in (ON, OFF))
    assert (on.status, on.verdict.reason) == (before, InstanceReason.CONVERGENCE_CHECK_FAILED)
    assert (off.status, off.verdict.reason) == (before, InstanceReason.DRAIN_CHECK_FAILED)


@pytest.mark.parametrize(
    ("recorded", "live", "expected"),
    [
        (ServingCertificate("a", 3), ServingCertificate("b", 3), True),
        (ServingCertificate("a", 3), ServingCertificate("a", 3), False),
        (ServingCertificate("a", 2), ServingCertificate("b", 3), False),
        (ServingCertificate("", 3), ServingCertificate("b", 3), False),
        (ServingCertificate("a", 3), ServingCertificate("", 3), False),
        (ServingCertificate(), ServingCertificate("b", 0), False),
    ],
)
def test_a_generation_rolls_when_its_own_certificate_is_renewed(
    recorded: ServingCertificate, live: ServingCertificate, *, expected: bool
) -> None:
    assert is_renewed(recorded, live) is expected
