"""TLS as a whole: the gateway is changed when its record is stored, and nothing that is in use is taken away."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.errors import OperatorError, TransientError
from firebolt_operator.look_again import WHEN_CHANGED, AtOnce
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret
from firebolt_operator.manifests.revocations import read_revocations
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.decide.instance_tls import POLL, decide_tls
from firebolt_operator.tls.decide.outcome import not_read
from firebolt_operator.tls.facts import (
    EngineListener,
    EnsureProblem,
    GatewayRollout,
    GatewaySeen,
    Listeners,
    SecretRevisions,
    TLSSituation,
    TrustBundle,
    TrustedAuthority,
)
from firebolt_operator.tls.plan import TLSPlan
from tests.support.admission import tls
from tests.support.instances import NOON, a_condition, an_instance
from tests.support.pki import Authority

A = blob_fingerprint("CA-A")
BEFORE = (NOON - timedelta(days=1)).isoformat()
REENCRYPTING: Manifest = {"secretName": "inst-engine-tls", "createdAt": BEFORE, "reencrypting": True}
SECURE: Manifest = {"secretName": "inst-gateway-tls", "createdAt": BEFORE, "mode": "TLS"}
MUTUAL: Manifest = {**SECURE, "secretName": "own", "mode": "MutualTLS", "clientCAFingerprint": A}
BUNDLE = TrustBundle({A: TrustedAuthority("CA-A", frozenset())}, 1)
REVOKING: Manifest = {
    "enabled": True,
    "secretRef": {"name": "own"},
    "clientCASecretRef": {"name": "clients"},
    "crlSecretRef": {"name": "revoked"},
}


class Configs:
    """A hash that people can read."""

    def gateway_hash(self, status: GatewayTLSStatus | None, revisions: SecretRevisions, /) -> str:
        return f"{status.mode if status else 'none'} {sorted(revisions.known.items())}"


def issued(name: str, **secret: Any) -> Issued:
    described: dict[str, Any] = {
        "filled": frozenset({"tls.crt", "tls.key", "ca.crt"}),
        "issued_for": name,
        "public_key": "key",
        "served": "served-fingerprint",
        "authority": "CA-A",
        **secret,
    }
    return Issued(
        certificate=IssuedCertificate(uid="c", created_at=NOON, generation=1, ready_generation=1),
        secret=IssuedSecret(uid="s", created_at=NOON, **described),
    )


EVERYTHING = {name: issued(name) for name in ("inst-engine-tls", "inst-gateway-tls", "own", "clients")}


def situation(spec: Manifest, status: Manifest | None = None, **facts: Any) -> TLSSituation:
    instance = an_instance(status={"phase": "Ready", **(status or {})}, **spec)
    described: dict[str, Any] = {"gateway": GatewaySeen(), "issued": EVERYTHING, **facts}
    return TLSSituation(instance=instance, now=NOON, **described)


def decide(spec: Manifest, status: Manifest | None = None, **facts: Any) -> TLSPlan:
    return decide_tls(situation(spec, status, **facts), Configs())


def served(what: str, *, bundle: TrustBundle | None = None, is_complete: bool = True, **last: str) -> GatewaySeen:
    rollout = GatewayRollout(config_hash=what, is_complete=is_complete)
    return GatewaySeen(rollout=rollout, bundle=bundle or TrustBundle(), revisions=last)


ENGINES = tls.engine(**tls.issued())
CLIENTS = tls.gateway(**tls.issued())


def test_the_record_comes_before_the_gateway() -> None:
    first = decide(ENGINES)
    assert first.engine_status is not None
    assert (first.engine_status.reencrypting, first.holds_gateway, first.bundle) == (True, True, None)
    assert first.look_again == AtOnce()
    second = decide(ENGINES, {"engineTLS": REENCRYPTING})
    assert (second.holds_gateway, second.bundle) == (False, BUNDLE)


def test_what_is_asked_of_clients_is_recorded_first_as_well() -> None:
    closed = served(Configs().gateway_hash(None, decide(CLIENTS).revisions))
    opening = decide(CLIENTS, gateway=closed)
    assert opening.gateway_status is not None
    assert opening.holds_gateway
    stored = {"gatewayTLS": msgspec.to_builtins(opening.gateway_status, str_keys=True)}
    assert not decide(CLIENTS, stored, gateway=closed).holds_gateway


def test_engines_are_told_of_a_ca_when_the_bundle_is_stored_and_every_pod_was_started_for_it() -> None:
    status = {"engineTLS": REENCRYPTING}
    revisions = decide(ENGINES, status).revisions
    hashed = Configs().gateway_hash(None, revisions)
    assert decide(ENGINES, status, gateway=served(hashed)).published == frozenset()
    assert decide(ENGINES, status, gateway=served("older", bundle=BUNDLE)).published == frozenset()
    rolling = served(hashed, bundle=BUNDLE, is_complete=False)
    assert decide(ENGINES, status, gateway=rolling).published == frozenset()
    done = decide(ENGINES, status, gateway=served(hashed, bundle=BUNDLE))
    assert done.published == {A}
    assert decide(ENGINES, status, gateway=rolling).look_again == POLL
    assert done.look_again == WHEN_CHANGED


def test_what_engines_were_told_is_kept_while_the_gateway_rolls_and_withdrawn_before_it_goes() -> None:
    told = {"engineTLS": REENCRYPTING, "rolledEngineTrustCAs": [A]}
    rolling = served("older", bundle=BUNDLE, is_complete=False)
    assert decide(ENGINES, told, gateway=rolling).published == {A}
    # The only CA that lives is another one: the first is withdrawn, and still in the bundle.
    leaving = decide(ENGINES, told, gateway=rolling, generations={"eng-g1-engine-tls": "CA-B"})
    assert leaving.published == frozenset()
    assert leaving.bundle is not None
    assert A in leaving.bundle.authorities


def test_a_gateway_that_speaks_plaintext_to_engines_needs_no_bundle_and_tells_nothing() -> None:
    plain = {"engineTLS": {**REENCRYPTING, "reencrypting": False}, "rolledEngineTrustCAs": [A]}
    plaintext = Listeners(engines=(EngineListener(name="eng", tls_hash=""),))
    found = decide(ENGINES, plain, listeners=plaintext, gateway=served("x", bundle=BUNDLE))
    assert (found.bundle, found.published) == (None, frozenset())
    assert found.engine_verdict.reason == "Converging"


def engines_said(reason: str, status: str = "False") -> Manifest:
    return {"conditions": [a_condition("EngineTLSReady", status, reason)]}


def test_engines_are_not_called_ready_before_every_pod_of_the_gateway_speaks_tls_to_them() -> None:
    recorded = {"engineTLS": REENCRYPTING}
    hashed = Configs().gateway_hash(None, decide(ENGINES, recorded).revisions)

    def reason(status: Manifest, gateway: GatewaySeen) -> str:
        return decide(ENGINES, status, gateway=gateway).engine_verdict.reason

    there, rolling = served(hashed, bundle=BUNDLE), served(hashed, bundle=BUNDLE, is_complete=False)
    assert reason({}, there) == "Converging"  # nothing is recorded: what is served is older
    assert reason(recorded | engines_said("Converging"), rolling) == "Converging"
    assert reason(recorded | engines_said("Converging"), served("older")) == "Converging"
    assert reason(recorded | engines_said("Converging"), there) == "Ready"
    # A renewal rolls it as well, and refuses nobody.
    assert reason(recorded | engines_said("Ready", "True"), rolling) == "Ready"


def test_tls_of_engines_is_not_called_disabled_before_every_pod_of_the_gateway_speaks_plaintext() -> None:
    hashed = Configs().gateway_hash(None, decide({}).revisions)
    assert decide({}, {"engineTLS": REENCRYPTING}, gateway=served(hashed)).engine_verdict.reason == "Draining"
    rolling = decide({}, engines_said("Draining"), gateway=served(hashed, is_complete=False))
    assert (rolling.engine_verdict.reason, rolling.look_again) == ("Draining", POLL)
    assert decide({}, engines_said("Draining"), gateway=served(hashed)).engine_verdict.reason == "Disabled"
    assert decide({}, gateway=served("another")).engine_verdict.reason == "Disabled"


def test_a_spec_that_is_not_valid_loosens_nothing_and_leaves_a_closed_listener_closed() -> None:
    open_spec = {"tls": {"gateway": {"enabled": True, "crlSecretRef": {"name": "x"}, "secretRef": {"name": "own"}}}}
    kept = decide(open_spec, {"gatewayTLS": MUTUAL}, spec_problem="no")
    assert (kept.holds_gateway, kept.gateway_verdict.reason) == (True, "TLSSpecInvalid")
    assert kept.gateway_status is not None
    assert not decide(open_spec, spec_problem="no").holds_gateway


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        pytest.param(None, "not found", id="missing"),
        pytest.param(issued("", filled=frozenset({"x"})), 'is missing or empty for key "crl.pem"', id="empty"),
        pytest.param(
            issued("", filled=frozenset({"crl.pem"})),
            'holds something else than revocation lists in PEM format in key "crl.pem"',
            id="spoilt",
        ),
        pytest.param(issued("", filled=frozenset({"crl.pem"}), revocations="list"), "", id="sound"),
    ],
)
def test_a_list_is_looked_at_before_the_gateway_gets_it(found: Issued | None, problem: str) -> None:
    known = EVERYTHING | ({"revoked": found} if found else {})
    plan = decide({"tls": {"gateway": REVOKING}}, {"gatewayTLS": MUTUAL}, issued=known)
    expected = f"gateway client CRL secret ns/revoked {problem}" if problem else ""
    assert (plan.revocation_problem, plan.holds_gateway) == (expected, bool(problem))


def listed(*authorities: Authority) -> Issued:
    lists = read_revocations("".join(each.revoked() for each in authorities))
    return issued("", filled=frozenset({"crl.pem"}), revocations="list", revoking=lists)


OLD, NEW = Authority("ca"), Authority("ca")
TEXTS = [OLD.pem, NEW.pem]  # signed anew each time


def test_a_list_that_would_keep_every_client_out_is_not_given_to_the_gateway() -> None:
    known = {**EVERYTHING, "clients": issued("", authority=f"{OLD.pem}{NEW.pem}")}
    problems = {
        name: decide(
            {"tls": {"gateway": REVOKING}}, {"gatewayTLS": MUTUAL}, issued={**known, "revoked": listed(*signers)}
        ).revocation_problem
        for name, signers in {"one": (OLD,), "both": (OLD, NEW), "another": (Authority("x"),)}.items()
    }
    refused = "gateway client CRL secret ns/revoked has no list of any client CA"
    assert problems == {"one": "", "both": "", "another": refused}


def revoking_engines(*signers: Authority, **facts: Any) -> TLSPlan:
    texts = {blob_fingerprint(text): text for text in TEXTS}
    bundle = TrustBundle({key: TrustedAuthority(text, frozenset({key})) for key, text in texts.items()}, 1)
    spec = tls.engine(**tls.issued(), crlSecretRef={"name": "revoked"})
    described = {"issued": {**EVERYTHING, "revoked": listed(*signers)}, "generations": texts}
    status = {"engineTLS": REENCRYPTING, **facts}
    revisions = decide(spec, status, **described, gateway=GatewaySeen(bundle=bundle)).revisions
    gateway = served(Configs().gateway_hash(None, revisions), bundle=bundle)
    return decide(spec, status, **described, gateway=gateway)


def test_engines_are_told_of_a_ca_when_there_is_a_list_for_it() -> None:
    """The gateway would refuse whoever is not listed."""
    old, new = map(blob_fingerprint, TEXTS)
    in_use = {"rolledEngineTrustCAs": [old]}
    assert revoking_engines(OLD, **in_use).published == {old}
    assert revoking_engines(OLD, NEW, **in_use).published == {old, new}
    lacking = revoking_engines(NEW, **in_use)
    assert lacking.revocation_problem == "gateway engine CRL secret ns/revoked lacks the list of a CA that engines use"
    assert lacking.holds_gateway
    assert revoking_engines(OLD).holds_gateway  # nobody was told of any yet: both are in use


def test_a_listener_that_has_to_be_closed_waits_for_no_list() -> None:
    engines = tls.engine(**tls.issued(), crlSecretRef={"name": "revoked"})["tls"]
    spec = {"tls": {"gateway": CLIENTS["tls"]["gateway"], **engines}}
    closing = decide(spec, {"engineTLS": REENCRYPTING}, gateway=served("plain", bundle=BUNDLE))
    assert closing.gateway_verdict.reason == "StagingFailClosed"
    assert (closing.revocation_problem, closing.holds_gateway) == ("", False)
    open_again = decide(spec, {"engineTLS": REENCRYPTING, "gatewayTLS": SECURE})
    assert open_again.revocation_problem == "gateway engine CRL secret ns/revoked not found"


def test_pods_are_started_for_the_content_of_secrets() -> None:
    spec, stored = {"tls": {"gateway": REVOKING}}, {"gatewayTLS": MUTUAL}
    first = decide(spec, stored).revisions
    assert first.known["own"] == "served-fingerpri"
    labelled = {**EVERYTHING, "own": issued("own", version="99")}
    assert decide(spec, stored, issued=labelled).revisions == first
    unreadable = {**EVERYTHING, "own": issued("own", public_key="")}
    last = served("x", own="before")
    assert decide(spec, stored, issued=unreadable, gateway=last).revisions.known["own"] == ""
    assert decide(spec, stored, gateway=last).revisions.before == {"own": "before"}


def test_one_secret_may_serve_more_than_one_purpose() -> None:
    listener = {"enabled": True, "secretRef": {"name": "own"}, "clientCASecretRef": {"name": "own"}}
    one = {"tls": {"gateway": listener}}
    before = decide(one, {"gatewayTLS": MUTUAL}).revisions.known["own"]
    other = {**EVERYTHING, "own": issued("own", authority="CA-B")}
    assert decide(one, {"gatewayTLS": MUTUAL}, issued=other).revisions.known["own"] != before


def test_without_cert_manager_nothing_is_asked_for_and_it_is_said() -> None:
    spec = {"tls": {**ENGINES["tls"], **CLIENTS["tls"]}}
    found = decide(spec, issued={}, has_cert_manager=False, gateway=served("none []"))
    assert (found.ensures_anchor, found.ensures_certificate) == (False, False)
    expected = "waiting for cert-manager, which is not installed, to issue the engine TLS certificate"
    assert found.engine_verdict.message == expected
    asked = decide(spec, issued={})
    assert (asked.ensures_anchor, asked.ensures_certificate) == (True, True)
    assert asked.engine_verdict.message == "waiting for cert-manager to issue the engine TLS certificate"


@pytest.mark.parametrize(("reason", "expected"), [("Ready", "Ready"), ("Disabled", "SecureRolloutPending")])
def test_a_listener_is_called_ready_once_it_was_seen_to_serve(reason: str, expected: str) -> None:
    """From then on a renewal, which rolls pods as well, changes nothing about that."""
    stored = {"gatewayTLS": SECURE, "conditions": [a_condition("GatewayTLSReady", "True", reason)]}
    assert decide(CLIENTS, stored, gateway=served("closed still")).gateway_verdict.reason == expected


def remembered(observed: int) -> Manifest:
    ready = {**a_condition("EngineTLSReady", "True"), "observedGeneration": observed}
    return {"engineTLS": REENCRYPTING, "conditions": [ready, {**ready, "type": "GatewayTLSReady"}]}


@pytest.mark.parametrize(
    ("observed", "is_passing", "expected"),
    [(3, True, "True"), (3, False, "False"), (2, True, "False")],
    ids=["nobody-answered", "refused", "of-another-spec"],
)
def test_a_certificate_that_could_not_be_asked_for(observed: int, *, is_passing: bool, expected: str) -> None:
    spec = {"tls": {**ENGINES["tls"], **CLIENTS["tls"]}}
    problem = EnsureProblem("why", is_passing)
    stored = {**remembered(observed), "gatewayTLS": SECURE}
    found = decide(spec, stored, engine_problem=problem, gateway_problem=problem)
    assert (found.engine_verdict.status, found.gateway_verdict.status) == (expected, expected)
    assert found.engine_status is not None
    assert found.gateway_status is not None
    if expected == "False":
        assert (found.engine_verdict.reason, found.engine_verdict.message) == ("CertificateEnsureFailed", "why")


@pytest.mark.parametrize(("error", "expected"), [(TransientError("x"), "True"), (OperatorError("x"), "False")])
def test_what_could_not_be_read_changes_nothing(error: OperatorError, expected: str) -> None:
    stored = {**remembered(3), "gatewayTLS": SECURE, "rolledEngineTrustCAs": [A]}
    instance = an_instance(status={"phase": "Ready", **stored}, **ENGINES)
    outcome = not_read(instance, error)
    plan, status = outcome.plan, instance.status
    assert (plan.engine_status, plan.gateway_status, set(plan.published)) == (
        status.engine_tls,
        status.gateway_tls,
        {A},
    )
    assert (plan.holds_gateway, plan.engine_verdict.status, outcome.error) == (True, expected, error)


def test_who_switches_tls_off_is_followed_until_the_last_engine() -> None:
    off = {"tls": {"engine": {"enabled": False}}}
    status = {"engineTLS": REENCRYPTING}
    still = Listeners(engines=(EngineListener(name="eng", tls_hash="h"),))
    waiting = decide(off, status, listeners=still)
    assert (waiting.engine_verdict.reason, waiting.holds_gateway, waiting.bundle) == ("Draining", False, BUNDLE)
    over = decide(off, status)
    assert (over.engine_verdict.reason, over.engine_status, over.holds_gateway) == ("Draining", None, True)
    assert over.look_again == AtOnce()
