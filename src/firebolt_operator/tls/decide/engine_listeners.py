"""Do engines speak TLS, and does the gateway speak it to them? The words of `EngineTLSReady`."""

from dataclasses import dataclass
from typing import Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.tls import EngineTLSStatus
from firebolt_operator.manifests.issued import Issued, wrong_secret
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls.facts import EngineListener, EngineTLSSituation

DISABLED: Final = Verdict("True", InstanceReason.DISABLED, "spec.tls.engine is unset or disabled")
READY: Final = Verdict(
    "True", InstanceReason.READY, "engine TLS certificate is provisioned and the fleet is re-encrypting"
)
PENDING: Final = Verdict(
    "False", InstanceReason.CERTIFICATE_PENDING, "waiting for cert-manager to issue the engine TLS certificate"
)
CONVERGING: Final = Verdict(
    "False",
    InstanceReason.CONVERGING,
    "engine TLS certificate provisioned; waiting for the engine fleet to roll onto TLS",
)
DRAINING: Final = Verdict(
    "False",
    InstanceReason.DRAINING,
    "engine TLS disabled; retaining the trust anchor while the engine fleet rolls back to plaintext",
)
NEEDED: Final = (names.KEY_CERTIFICATE, names.KEY_PRIVATE_KEY, names.KEY_AUTHORITY)
"""The CA as well: without it the gateway could verify nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTLSPlan:
    status: EngineTLSStatus | None
    verdict: Verdict
    ensures_anchor: bool = False


def decide_engine_tls(situation: EngineTLSSituation) -> EngineTLSPlan:
    listener, status = situation.listener, situation.status
    if listener is not None and situation.spec_problem:
        return EngineTLSPlan(status=status, verdict=_no(InstanceReason.TLS_SPEC_INVALID, situation.spec_problem))
    if listener is None or not listener.enabled:
        return _switched_off(situation)
    problem = _anchor_problem(situation.anchor, situation.anchor_name)
    if problem is not None:
        return EngineTLSPlan(status=status, verdict=problem, ensures_anchor=True)
    return _provisioned(situation)


def _switched_off(situation: EngineTLSSituation) -> EngineTLSPlan:
    """The gateway speaks TLS until no engine does. Taking the block out means the same as turning it off."""
    status = situation.status
    if status is None:
        return EngineTLSPlan(status=None, verdict=DISABLED)
    if situation.listeners.problem:
        return EngineTLSPlan(status=status, verdict=_no(InstanceReason.DRAIN_CHECK_FAILED, situation.listeners.problem))
    if _some_on_tls(situation):
        kept = msgspec.structs.replace(status, reencrypting=True)
        return EngineTLSPlan(status=kept, verdict=DRAINING)
    return EngineTLSPlan(status=None, verdict=DISABLED)


def _provisioned(situation: EngineTLSSituation) -> EngineTLSPlan:
    before = situation.status
    was_reencrypting = before is not None and before.reencrypting
    if situation.listeners.problem:
        # What is not known changes nothing: queries go on the way they went.
        verdict = _no(InstanceReason.CONVERGENCE_CHECK_FAILED, situation.listeners.problem)
        return EngineTLSPlan(status=_status(situation, is_on=was_reencrypting), verdict=verdict, ensures_anchor=True)
    is_on = _all_on_tls(situation) or (was_reencrypting and _some_on_tls(situation))
    is_done = is_on and all(each.tls_hash == situation.expected_hash for each in _reachable(situation))
    return EngineTLSPlan(
        status=_status(situation, is_on=is_on), verdict=READY if is_done else CONVERGING, ensures_anchor=True
    )


def _status(situation: EngineTLSSituation, *, is_on: bool) -> EngineTLSStatus:
    created_at = situation.status.created_at if situation.status else situation.now
    return EngineTLSStatus(secret_name=situation.anchor_name, created_at=created_at, reencrypting=is_on)


def _reachable(situation: EngineTLSSituation) -> list[EngineListener]:
    return [engine for engine in situation.listeners.engines if engine.has_pods]


def _all_on_tls(situation: EngineTLSSituation) -> bool:
    return all(engine.tls_hash and engine.is_drained for engine in _reachable(situation))


def _some_on_tls(situation: EngineTLSSituation) -> bool:
    return any(engine.tls_hash for engine in _reachable(situation))


def _anchor_problem(anchor: Issued, name: str) -> Verdict | None:
    certificate, secret = anchor.certificate, anchor.secret
    if certificate is None or not certificate.is_ready or secret is None or not secret.has(*NEEDED):
        return PENDING
    wrong = wrong_secret(secret, name)
    return _no(InstanceReason.CERTIFICATE_ENSURE_FAILED, wrong) if wrong else None


def _no(reason: InstanceReason, message: str) -> Verdict:
    return Verdict("False", reason, message)
