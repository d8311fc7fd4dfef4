"""What does the gateway ask of its clients? The words of GatewayTLSReady, and what is recorded with them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.model import LocalRef
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.tls import GatewayTLSStatus, TLSListener
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret
from firebolt_operator.tls.decide.gateway_posture import GatewayTLSPlan, decide_gateway_tls
from firebolt_operator.tls.facts import GatewayRollout, GatewayTLSSituation
from tests.support.auth import ISSUER
from tests.support.engines import NOON

NAME = "inst-gateway-tls"
BEFORE = NOON - timedelta(days=1)
OURS = TLSListener(enabled=True, cert_manager=ISSUER)
OWN = TLSListener(enabled=True, secret_ref=LocalRef(name="own"))
MUTUAL = TLSListener(enabled=True, cert_manager=ISSUER, client_ca_secret_ref=LocalRef(name="clients"))
ONE_WAY = GatewayTLSStatus(secret_name=NAME, created_at=BEFORE, mode="TLS")


class Configs:
    def config_hash(self, status: GatewayTLSStatus | None, /) -> str:
        return "closed" if status is None else status.mode + status.client_ca_fingerprint


def secret(*filled: str, issued_for: str = NAME, authority: str = "") -> IssuedSecret:
    return IssuedSecret(
        uid="s", created_at=NOON, filled=frozenset(filled), issued_for=issued_for, authority=authority, public_key="fp"
    )


def issued(*, is_ready: bool = True, issued_for: str = NAME) -> Issued:
    certificate = IssuedCertificate(uid="c", created_at=NOON, generation=1, ready_generation=1 if is_ready else None)
    return Issued(certificate=certificate, secret=secret("tls.crt", "tls.key", issued_for=issued_for))


def decide(listener: TLSListener | None, served: str = "", **fields: Any) -> GatewayTLSPlan:
    rollout = GatewayRollout(config_hash=served, is_complete=True) if served else None
    described: dict[str, Any] = {"status": None, "certificate": issued(), **fields}
    situation = GatewayTLSSituation(listener=listener, now=NOON, certificate_name=NAME, rollout=rollout, **described)
    return decide_gateway_tls(situation, Configs())


@pytest.mark.parametrize("listener", [None, TLSListener(cert_manager=ISSUER)])
def test_without_tls_there_is_nothing_to_record(listener: TLSListener | None) -> None:
    plan = decide(listener, status=ONE_WAY)
    assert (plan.status, plan.verdict.reason, plan.ensures_certificate) == (None, InstanceReason.DISABLED, False)


def test_turning_it_on_goes_through_a_closed_listener() -> None:
    reasons = [decide(OURS, "plain").verdict.reason, decide(OURS, "closed").verdict.reason]
    assert reasons == [InstanceReason.STAGING_FAIL_CLOSED, InstanceReason.SECURE_ROLLOUT_PENDING]
    staged = decide(OURS, "closed").status
    assert staged == GatewayTLSStatus(secret_name=NAME, created_at=NOON, mode="TLS")
    assert decide(OURS, "TLS", status=staged).verdict.reason == InstanceReason.READY


def test_a_listener_is_closed_although_its_certificate_is_not_there_yet() -> None:
    assert decide(OURS, "plain", certificate=Issued()).verdict.reason == InstanceReason.STAGING_FAIL_CLOSED
    waiting = decide(OURS, "closed", certificate=Issued())
    assert (waiting.status, waiting.verdict.reason) == (None, InstanceReason.CERTIFICATE_PENDING)
    assert waiting.ensures_certificate


@pytest.mark.parametrize(
    ("certificate", "reason"),
    [
        (issued(is_ready=False), InstanceReason.CERTIFICATE_PENDING),
        (issued(issued_for="another"), InstanceReason.CERTIFICATE_ENSURE_FAILED),
        (Issued(certificate=issued().certificate), InstanceReason.CERTIFICATE_PENDING),
    ],
)
def test_a_failed_renewal_is_told_and_the_old_certificate_serves(certificate: Issued, reason: str) -> None:
    plan = decide(OURS, "TLS", status=ONE_WAY, is_ready=True, certificate=certificate)
    assert (plan.status, plan.verdict.status, plan.verdict.reason) == (ONE_WAY, "False", reason)


def test_a_renewal_that_rolls_pods_stays_ready() -> None:
    assert decide(OURS, "another", status=ONE_WAY, is_ready=True).verdict.reason == InstanceReason.READY


def test_a_secret_of_the_users_own_is_taken_as_it_is() -> None:
    plan = decide(OWN, "closed", certificate=Issued(secret=secret("tls.crt", "tls.key", issued_for="")))
    assert plan.status == GatewayTLSStatus(secret_name="own", created_at=NOON, mode="TLS")
    assert not plan.ensures_certificate
    assert decide(OWN, "closed", certificate=Issued()).verdict.reason == InstanceReason.SECRET_PENDING


def test_clients_ca_missing_closes_a_listener_that_served() -> None:
    plan = decide(MUTUAL, "TLS", status=ONE_WAY, is_ready=True)
    assert (plan.status, plan.verdict.reason) == (None, InstanceReason.CERTIFICATE_PENDING)
    assert plan.verdict.message.endswith("; the client CA is missing")


def test_another_ca_of_clients_is_staged_and_an_unrecorded_one_is_not() -> None:
    authority = secret("ca.crt", authority="CA-2\n")
    known = GatewayTLSStatus(
        secret_name=NAME, created_at=BEFORE, mode="MutualTLS", client_ca_fingerprint=blob_fingerprint("CA-1")
    )
    other = decide(MUTUAL, "MutualTLS", status=known, client_authority=authority, is_ready=True)
    assert (other.status, other.verdict.reason) == (None, InstanceReason.STAGING_FAIL_CLOSED)
    upgraded = GatewayTLSStatus(secret_name=NAME, created_at=BEFORE, mode="MutualTLS")
    same = decide(MUTUAL, "MutualTLS", status=upgraded, client_authority=authority, is_ready=True)
    assert same.status is not None
    assert (same.status.client_ca_fingerprint, same.status.created_at) == (blob_fingerprint("CA-2"), BEFORE)


def test_loosening_is_immediate() -> None:
    mutual = GatewayTLSStatus(secret_name=NAME, created_at=BEFORE, mode="MutualTLS", client_ca_fingerprint="x")
    assert decide(OURS, "MutualTLSx", status=mutual, is_ready=True).status == ONE_WAY


def test_a_wrong_spec_is_told_and_changes_nothing() -> None:
    plan = decide(OURS, "TLS", status=ONE_WAY, spec_problem="no")
    assert (plan.status, plan.verdict.reason) == (ONE_WAY, InstanceReason.TLS_SPEC_INVALID)


def test_a_certificate_that_cannot_be_read_is_not_given_to_the_gateway() -> None:
    unreadable = Issued(secret=replace(secret("tls.crt", "tls.key"), public_key=""))
    found = decide(OWN, "TLS", certificate=unreadable, status=ONE_WAY, is_ready=True)
    assert (found.status, found.verdict.reason) == (ONE_WAY, InstanceReason.SECRET_PENDING)
    assert found.verdict.message.endswith("; tls.crt holds no certificate that can be read")
