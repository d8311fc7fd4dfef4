"""Every row of the status contract: endpoints, conditions, roll-up and phase."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.auth import AuthStatus
from firebolt_operator.api.tls import EngineTLSStatus
from firebolt_operator.instance.decide.components import Situation, decide_instance, status_after
from firebolt_operator.instance.decide.conditions import MOST_CHARACTERS
from firebolt_operator.instance.decide.status import phase_after
from firebolt_operator.instance.facts import (
    NOT_READY,
    InstanceFacts,
    Readiness,
    SecretMissing,
    SecretUnreadable,
    Volume,
)
from firebolt_operator.instance.plan import Problem, Stage
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.facts import TrustBundle, TrustedAuthority
from firebolt_operator.tls.plan import TLSOutcome
from tests.support.admission import auth, tls
from tests.support.instances import (
    EARLIER,
    EXTERNAL,
    ID,
    NOON,
    a_condition,
    a_ready_status,
    a_secret,
    a_situation,
    an_instance,
    auth_of,
    condition,
    said,
    some_facts,
    tls_of,
)

UNREADABLE = Readiness(is_ready=False, problem="deployments is forbidden")
METADATA_ENDPOINT = "inst-metadata.ns.svc.cluster.local:7000"
GATEWAY_ENDPOINT = "inst-gateway.ns.svc.cluster.local"
REJECTED_METADATA: Manifest = {"metadata": {"template": {"spec": {"hostname": "x"}}}}
REJECTED_GATEWAY: Manifest = {"gateway": {"template": {"spec": {"hostname": "x"}}}}
METADATA_READY = ("True", "Ready", "metadata Deployment has at least one ready replica")
METADATA_PROVISIONING = ("False", "Provisioning", "metadata Deployment has no ready replicas yet")
GATEWAY_READY = ("True", "Ready", "gateway Deployment has at least one ready replica")
GATEWAY_PROVISIONING = ("False", "Provisioning", "gateway Deployment has no ready replicas yet")


@pytest.mark.parametrize(
    ("spec", "facts", "kind", "expected"),
    [
        pytest.param({}, some_facts(), "MetadataReady", METADATA_READY, id="metadata-ready"),
        pytest.param(
            {}, some_facts(metadata_service=NOT_READY), "MetadataReady", METADATA_PROVISIONING, id="metadata-starting"
        ),
        pytest.param(
            REJECTED_METADATA,
            some_facts(),
            "MetadataReady",
            (
                "False",
                "TemplateRejected",
                "spec.metadata.template.spec.hostname: Forbidden: hostname is owned by the operator",
            ),
            id="metadata-template-rejected",
        ),
        pytest.param(
            {},
            some_facts(credentials=a_secret(type="x")),
            "MetadataReady",
            (
                "False",
                "PostgresEnsureFailed",
                'ensuring postgres secret: Secret ns/inst-metadata-postgres-creds: got type "x", want "Opaque"',
            ),
            id="postgres-secret-malformed",
        ),
        pytest.param(
            {},
            some_facts(credentials=SecretUnreadable("forbidden")),
            "MetadataReady",
            ("False", "PostgresEnsureFailed", "ensuring postgres secret: forbidden"),
            id="postgres-secret-unreadable",
        ),
        pytest.param(
            {},
            some_facts(credentials=SecretMissing(Volume.DELETING)),
            "MetadataReady",
            ("False", "Provisioning", "waiting until PersistentVolumeClaim data-inst-metadata-pg-0 is deleted"),
            id="volume-of-an-earlier-database",
        ),
        pytest.param(
            {"metadata": {"postgres": EXTERNAL}},
            some_facts(credentials=SecretMissing()),
            "MetadataReady",
            ("False", "PostgresSecretPreflightFailed", "Secret ns/db-login not found"),
            id="external-secret-missing",
        ),
        pytest.param(
            {"id": "a\x01b"},
            some_facts(),
            "MetadataReady",
            (
                "False",
                "EnsureFailed",
                'ensuring metadata configmap: spec.id: Invalid value: "a\\u0001b": contains a character that XML cannot express',  # noqa: E501
            ),
            id="configuration-cannot-be-written",
        ),
        pytest.param(
            {},
            some_facts(metadata_service=UNREADABLE),
            "MetadataReady",
            ("False", "ProbeFailed", "deployments is forbidden"),
            id="metadata-unreadable",
        ),
        pytest.param({}, some_facts(), "GatewayReady", GATEWAY_READY, id="gateway-ready"),
        pytest.param({}, some_facts(gateway=NOT_READY), "GatewayReady", GATEWAY_PROVISIONING, id="gateway-starting"),
        pytest.param(
            REJECTED_GATEWAY,
            some_facts(),
            "GatewayReady",
            (
                "False",
                "TemplateRejected",
                "spec.gateway.template.spec.hostname: Forbidden: hostname is owned by the operator",
            ),
            id="gateway-template-rejected",
        ),
        pytest.param(
            {},
            some_facts(gateway=UNREADABLE),
            "GatewayReady",
            ("False", "ProbeFailed", "deployments is forbidden"),
            id="gateway-unreadable",
        ),
        pytest.param(
            {},
            some_facts(),
            "Ready",
            ("True", "AllComponentsReady", "metadata, gateway, and TLS certificates are ready"),
            id="all-ready",
        ),
        pytest.param(
            {},
            some_facts(metadata_service=NOT_READY, gateway=NOT_READY),
            "Ready",
            ("False", "Provisioning", "MetadataReady: metadata Deployment has no ready replicas yet"),
            id="the-first-blocker-speaks",
        ),
        pytest.param(
            {},
            some_facts(gateway=NOT_READY),
            "Ready",
            ("False", "Provisioning", "GatewayReady: gateway Deployment has no ready replicas yet"),
            id="the-second-blocker-speaks",
        ),
        pytest.param(
            REJECTED_GATEWAY,
            some_facts(metadata_service=NOT_READY, gateway=NOT_READY),
            "Ready",
            ("False", "Initializing", "MetadataReady has not been observed yet"),
            id="a-fresh-instance-with-a-rejected-gateway-is-initializing",
        ),
        pytest.param(
            {}, some_facts(), "AuthReady", ("True", "Disabled", "spec.auth is unset or disabled"), id="no-auth"
        ),
        pytest.param(
            {"auth": {"enabled": False}},
            some_facts(),
            "AuthReady",
            ("True", "Disabled", "spec.auth is unset or disabled"),
            id="auth-off",
        ),
        pytest.param(
            {},
            some_facts(),
            "EngineTLSReady",
            ("True", "Disabled", "spec.tls.engine is unset or disabled"),
            id="no-engine-tls",
        ),
        pytest.param(
            {"tls": {"gateway": {"enabled": False}}},
            some_facts(),
            "GatewayTLSReady",
            ("True", "Disabled", "spec.tls.gateway is unset or disabled"),
            id="gateway-tls-off",
        ),
    ],
)
def test_conditions(spec: Manifest, facts: InstanceFacts, kind: str, expected: tuple[str, str, str]) -> None:
    instance = an_instance(status={"phase": "Provisioning"}, **spec)
    assert said(decide_instance(a_situation(instance, facts)).status, kind) == expected


@pytest.mark.parametrize(
    ("spec", "kind", "reason"),
    [
        (tls.engine(**tls.issued()), "EngineTLSReady", "CertificatePending"),
        (tls.gateway(**tls.issued()), "GatewayTLSReady", "StagingFailClosed"),
    ],
)
def test_tls_that_is_not_served_yet_is_part_of_ready(spec: Manifest, kind: str, reason: str) -> None:
    status = decide_instance(a_situation(an_instance(status={"phase": "Provisioning"}, **spec))).status
    assert (condition(status, kind).status, condition(status, kind).reason) == ("False", reason)
    assert (condition(status, "Ready").status, condition(status, "Ready").reason) == ("False", reason)


def test_authentication_is_no_part_of_ready_because_engines_wait_for_its_own_condition() -> None:
    status = decide_instance(a_situation(an_instance(status={"phase": "Provisioning"}, **auth.auth()))).status
    assert condition(status, "AuthReady").reason == "SigningKeyPending"
    assert condition(status, "Ready").is_true


def test_what_becomes_of_signing_keys_is_written_with_all_the_rest() -> None:
    asked = an_instance(status=a_ready_status(auth={"signingKeyGeneration": 4}), **auth.auth())
    recorded = AuthStatus(signing_key_generation=5)
    outcome = replace(auth_of(asked), status=recorded)
    for situation in (a_situation(asked), a_situation(asked, some_facts(metadata_service=NOT_READY))):
        assert decide_instance(replace(situation, auth=outcome)).status.auth == recorded
    problem = Problem(stage=Stage.GATEWAY, condition="GatewayReady", reason="EnsureFailed", message="refused")
    assert status_after(replace(a_situation(asked), auth=outcome), problem).auth == recorded


def test_a_pass_that_nobody_asked_about_authentication_must_not_go_on() -> None:
    with pytest.raises(RuntimeError, match="nobody looked at the authentication and the TLS of inst"):
        decide_instance(replace(a_situation(), auth=None))


def test_given_gateway_tls_then_no_gateway_is_made_that_listens_without_it() -> None:
    plan = decide_instance(a_situation(an_instance(status=a_ready_status(), **tls.gateway(**tls.issued()))))
    written = {step.write.manifest["kind"]: step.write.manifest for step in plan.steps if step.stage is Stage.GATEWAY}
    assert "name: listener" not in written["ConfigMap"]["data"]["envoy.yaml"]
    assert written["Deployment"]["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "100%", "maxSurge": 0}
    assert plan.status.phase == "Degraded"


def gateway_writes(situation: Situation) -> list[str]:
    plan = decide_instance(situation)
    return [step.write.manifest["kind"] for step in plan.steps if step.stage is Stage.GATEWAY]


def test_the_gateway_is_left_alone_until_its_record_is_stored_and_its_cas_come_first() -> None:
    situation = a_situation(an_instance(status=a_ready_status()))
    bundle = TrustBundle({"fp": TrustedAuthority("CA", frozenset())}, 1)
    decided = replace(tls_of(situation.instance).plan, bundle=bundle)
    assert gateway_writes(replace(situation, tls=TLSOutcome(plan=decided)))[0] == "Secret"
    held = replace(situation, tls=TLSOutcome(plan=replace(decided, holds_gateway=True)))
    assert gateway_writes(held) == ["Secret"]
    starting = replace(held, facts=some_facts(metadata_service=NOT_READY))
    assert gateway_writes(starting) == ["Secret"]
    nobody = replace(decided, bundle=TrustBundle(), holds_gateway=True)
    assert gateway_writes(replace(situation, tls=TLSOutcome(plan=nobody))) == []


def test_a_list_that_cannot_be_used_clears_the_endpoint_and_nothing_else() -> None:
    situation = a_situation(an_instance(status=a_ready_status()))
    told = replace(tls_of(situation.instance).plan, revocation_problem="why", holds_gateway=True)
    plan = decide_instance(replace(situation, tls=TLSOutcome(plan=told)))
    assert plan.problem is not None
    assert said(plan.status, "GatewayReady") == ("False", "CRLSecretPreflightFailed", "why")
    assert (plan.status.gateway_ready, plan.status.gateway_endpoint) == (False, "")
    assert (plan.status.metadata_ready, gateway_writes(replace(situation, tls=TLSOutcome(plan=told)))) == (True, [])


def test_what_becomes_of_tls_is_written_with_all_the_rest() -> None:
    recorded = EngineTLSStatus(secret_name="inst-engine-tls", created_at=NOON, reencrypting=True)
    situation = a_situation(an_instance(status=a_ready_status()))
    plan = replace(tls_of(situation.instance).plan, engine_status=recorded, published=frozenset({"b", "a"}))
    for each in (situation, replace(situation, facts=some_facts(metadata_service=NOT_READY))):
        status = decide_instance(replace(each, tls=TLSOutcome(plan=plan))).status
        assert (status.engine_tls, status.rolled_engine_trust_cas) == (recorded, ["a", "b"])


def endpoints(**changes: Any) -> tuple[bool, str, bool, str]:
    spec = changes.pop("spec", {})
    was = changes.pop("was", a_ready_status())
    status = decide_instance(a_situation(an_instance(status=was, **spec), some_facts(**changes))).status
    return status.metadata_ready, status.metadata_endpoint, status.gateway_ready, status.gateway_endpoint


BOTH = (True, METADATA_ENDPOINT, True, GATEWAY_ENDPOINT)
ONLY_METADATA = (True, METADATA_ENDPOINT, False, "")
ONLY_GATEWAY = (False, "", True, GATEWAY_ENDPOINT)
NEITHER = (False, "", False, "")
EXTERNAL_SPEC: Manifest = {"metadata": {"postgres": EXTERNAL}}


def test_a_listener_that_is_off_must_not_look_as_if_it_kept_clients_out() -> None:
    asked = an_instance(tls={"gateway": {"enabled": False, "clientCASecretRef": {"name": "clients"}}})
    found = tls_of(asked).plan
    assert found.engine_verdict.status == "True"
    assert found.gateway_verdict.reason == "TLSSpecInvalid"
    assert found.gateway_verdict.message == "spec.tls.gateway.clientCASecretRef: Forbidden: requires enabled: true"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, BOTH, id="both-ready"),
        pytest.param({"was": {"phase": "Provisioning"}}, BOTH, id="published-when-first-ready"),
        pytest.param({"gateway": NOT_READY}, ONLY_METADATA, id="gateway-down"),
        pytest.param({"metadata_service": NOT_READY}, ONLY_GATEWAY, id="metadata-down-says-nothing-about-the-gateway"),
        pytest.param({"metadata_service": NOT_READY, "gateway": NOT_READY}, NEITHER, id="both-down"),
        pytest.param(
            {"spec": EXTERNAL_SPEC, "credentials": SecretMissing()},
            ONLY_GATEWAY,
            id="preflight-clears-a-ready-metadata",
        ),
        pytest.param(
            {"spec": EXTERNAL_SPEC, "credentials": SecretMissing(), "gateway": NOT_READY},
            NEITHER,
            id="preflight-failed-and-gateway-down",
        ),
        pytest.param({"spec": REJECTED_METADATA}, BOTH, id="a-rejected-template-stops-nobody"),
        pytest.param({"spec": REJECTED_GATEWAY}, BOTH, id="a-rejected-gateway-template-neither"),
        pytest.param(
            {"spec": REJECTED_GATEWAY, "metadata_service": NOT_READY}, ONLY_GATEWAY, id="rejected-but-metadata-down"
        ),
        pytest.param({"spec": REJECTED_METADATA, "gateway": NOT_READY}, ONLY_METADATA, id="rejected-but-gateway-down"),
        pytest.param(
            {"spec": REJECTED_GATEWAY, "was": a_ready_status(metadataReady=False, metadataEndpoint="")},
            ONLY_GATEWAY,
            id="a-pass-that-ends-early-publishes-nothing",
        ),
        pytest.param({"credentials": a_secret(type="x")}, BOTH, id="a-malformed-secret-stops-nobody"),
        pytest.param(
            {"credentials": a_secret(type="x"), "metadata_service": NOT_READY}, ONLY_GATEWAY, id="malformed-and-down"
        ),
        pytest.param({"metadata_service": UNREADABLE}, BOTH, id="unreadable-is-not-down"),
        pytest.param({"gateway": UNREADABLE}, BOTH, id="unreadable-gateway-is-not-down"),
        pytest.param(
            {"metadata_service": NOT_READY, "gateway": UNREADABLE}, ONLY_GATEWAY, id="one-down-one-unreadable"
        ),
    ],
)
def test_endpoints(changes: dict[str, Any], expected: tuple[bool, str, bool, str]) -> None:
    assert endpoints(**changes) == expected


@pytest.mark.parametrize(
    ("stage", "kind", "expected"),
    [
        pytest.param(
            Stage.METADATA_SERVICE, "MetadataReady", (False, "", True, GATEWAY_ENDPOINT), id="metadata-keeps-its-word"
        ),
        pytest.param(Stage.GATEWAY, "GatewayReady", BOTH, id="a-failed-gateway-write-publishes-metadata"),
    ],
)
def test_a_failed_write_ends_the_pass_where_it_happened(
    stage: Stage, kind: str, expected: tuple[bool, str, bool, str]
) -> None:
    was = a_ready_status(metadataReady=False, metadataEndpoint="")
    problem = Problem(stage=stage, condition=kind, reason="EnsureFailed", message="ensuring x: refused")
    status = status_after(a_situation(an_instance(status=was)), problem)
    assert (status.metadata_ready, status.metadata_endpoint, status.gateway_ready, status.gateway_endpoint) == expected
    assert said(status, kind) == ("False", "EnsureFailed", "ensuring x: refused")
    assert said(status, "Ready") == ("False", "EnsureFailed", f"{kind}: ensuring x: refused")
    assert status.phase == "Degraded"


@pytest.mark.parametrize("stage", [Stage.GUARD, Stage.METADATA_SERVICE, Stage.GATEWAY])
def test_a_failed_write_hides_no_feature_that_is_refused(stage: Stage) -> None:
    """Engines are held back by that condition."""
    problem = Problem(stage=stage, condition="GatewayReady", reason="EnsureFailed", message="refused")
    status = status_after(a_situation(an_instance(status=a_ready_status(), auth={"enabled": True})), problem)
    assert condition(status, "AuthReady").reason == "AuthSpecInvalid"


def test_given_a_rejected_template_then_only_its_own_condition_changes() -> None:
    before = an_instance(status=a_ready_status(), **REJECTED_GATEWAY)
    after = decide_instance(a_situation(before)).status
    changed = {each.type for each in after.conditions if each not in before.status.conditions}
    assert changed == {"GatewayReady", "Ready", "Stalled"}


@pytest.mark.parametrize(
    ("spec", "facts", "kind", "lost"),
    [
        pytest.param(
            REJECTED_GATEWAY,
            some_facts(metadata_service=NOT_READY),
            "MetadataReady",
            METADATA_PROVISIONING,
            id="metadata",
        ),
        pytest.param(
            REJECTED_METADATA, some_facts(gateway=NOT_READY), "GatewayReady", GATEWAY_PROVISIONING, id="gateway"
        ),
    ],
)
def test_a_pass_that_ends_early_takes_back_that_a_component_is_ready_and_no_other_word(
    spec: Manifest, facts: InstanceFacts, kind: str, lost: tuple[str, str, str]
) -> None:
    def said_after(*conditions: Manifest) -> tuple[str, str, str] | None:
        instance = an_instance(status=a_ready_status(conditions=list(conditions)), **spec)
        return said(decide_instance(a_situation(instance, facts)).status, kind)

    assert said_after(a_condition(kind, "True")) == lost
    assert said_after(a_condition(kind, "False", "EnsureFailed", "why")) == ("False", "EnsureFailed", "why")
    assert said_after() is None


def test_given_both_templates_rejected_then_metadata_is_reported() -> None:
    plan = decide_instance(a_situation(an_instance(status=a_ready_status(), **REJECTED_METADATA, **REJECTED_GATEWAY)))
    assert plan.steps == ()
    assert str(plan.problem) == (
        "MetadataReady (TemplateRejected): "
        "spec.metadata.template.spec.hostname: Forbidden: hostname is owned by the operator"
    )
    assert said(plan.status, "GatewayReady") == ("True", "Ready", "as before")


@pytest.mark.parametrize("phase", ["Provisioning", "Ready", "Degraded"])
@pytest.mark.parametrize(("postgres", "metadata", "gateway"), list(product([True, False], repeat=3)))
def test_the_phase_reflects_the_components(phase: str, postgres: bool, metadata: bool, gateway: bool) -> None:
    """A database that is down shows as a metadata service that is not ready: it has no condition of its own."""
    was = {"Provisioning": {"phase": "Provisioning"}}.get(phase, a_ready_status(phase=phase))
    facts = some_facts(metadata_service=Readiness(postgres and metadata), gateway=Readiness(gateway))
    status = decide_instance(a_situation(an_instance(status=was), facts)).status
    is_up = postgres and metadata and gateway
    expected = "Ready" if is_up else ("Provisioning" if phase == "Provisioning" else "Degraded")
    assert status.phase == expected
    assert condition(status, "Ready").is_true is is_up
    rolled_up = ("MetadataReady", "GatewayReady", "EngineTLSReady", "GatewayTLSReady")
    assert all(condition(status, kind).is_true for kind in rolled_up) is is_up


@pytest.mark.parametrize(
    ("phase", "is_ready", "expected"),
    [
        ("", False, "Provisioning"),
        ("", True, "Ready"),
        ("Provisioning", False, "Provisioning"),
        ("Provisioning", True, "Ready"),
        ("Ready", False, "Degraded"),
        ("Ready", True, "Ready"),
        ("Degraded", False, "Degraded"),
        ("Degraded", True, "Ready"),
        ("Failed", False, "Failed"),
        ("Failed", True, "Failed"),
    ],
)
def test_phase_after(phase: str, is_ready: bool, expected: str) -> None:
    assert phase_after(phase, is_ready=is_ready) == expected


def test_the_id_is_recorded_when_it_is_first_published() -> None:
    starting = an_instance(status={"phase": "Provisioning"})
    assert decide_instance(a_situation(starting, some_facts(metadata_service=NOT_READY))).status.instance_id == ""
    assert decide_instance(a_situation(starting)).status.instance_id == ID


def test_a_transition_is_dated_and_a_change_of_words_is_not() -> None:
    was = a_ready_status(conditions=[a_condition("MetadataReady", "True"), a_condition("GatewayReady", "True")])
    status = decide_instance(a_situation(an_instance(status=was), some_facts(gateway=NOT_READY))).status
    metadata, gateway = condition(status, "MetadataReady"), condition(status, "GatewayReady")
    assert (metadata.message, metadata.last_transition_time) == (METADATA_READY[2], EARLIER)
    assert (gateway.status, gateway.last_transition_time) == ("False", NOON)
    assert {each.observed_generation for each in status.conditions} == {3}


def test_an_instance_at_rest_has_no_news() -> None:
    instance = an_instance(status=a_ready_status())
    settled = decide_instance(a_situation(instance)).status
    again = decide_instance(a_situation(an_instance(status=settled)))
    assert (again.status, again.reason, again.problem) == (settled, "at rest", None)


def test_a_giant_message_fits_into_a_condition() -> None:
    problem = Problem(
        stage=Stage.METADATA_SERVICE,
        condition=names.CONDITION_METADATA_READY,
        reason="EnsureFailed",
        message="x" * 50_000,
    )
    status = status_after(a_situation(), problem)
    assert all(len(each.message) <= MOST_CHARACTERS + 100 for each in status.conditions)
