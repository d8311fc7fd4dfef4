"""What does TLS need next, as a whole? Engines, the CAs behind them, and the gateway's listener, decided together.

The gateway is changed only by a pass that leaves both records as they are, so what its pods serve was stored before.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Protocol

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.names import InstanceReason
from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.look_again import WHEN_CHANGED, After, AtOnce, LookAgain
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls import served
from firebolt_operator.tls.decide.engine_listeners import EngineTLSPlan, decide_engine_tls
from firebolt_operator.tls.decide.following import followed
from firebolt_operator.tls.decide.gateway_posture import GatewayTLSPlan, decide_gateway_tls
from firebolt_operator.tls.decide.kept_verdicts import kept_verdict
from firebolt_operator.tls.decide.revisions import revocation_problem, secret_revisions, without_unlisted
from firebolt_operator.tls.decide.trust import TrustPlan, decide_trust, published_authorities
from firebolt_operator.tls.facts import (
    EngineTLSSituation,
    GatewayTLSSituation,
    SecretRevisions,
    TLSSituation,
    TrustSituation,
)
from firebolt_operator.tls.plan import TLSPlan

POLL: Final = After(timedelta(seconds=5))  # what is waited for tells of itself; this is for what was missed


class RevisedConfigs(Protocol):
    def gateway_hash(self, status: GatewayTLSStatus | None, revisions: SecretRevisions, /) -> str:
        """Of what the gateway's pods would be given with this record and these Secrets."""
        ...


@dataclass(frozen=True, slots=True)
class _Configs:
    configs: RevisedConfigs
    revisions: SecretRevisions

    def config_hash(self, status: GatewayTLSStatus | None, /) -> str:
        return self.configs.gateway_hash(status, self.revisions)


def decide_tls(situation: TLSSituation, configs: RevisedConfigs) -> TLSPlan:
    instance, stored = situation.instance, situation.instance.status
    trust = decide_trust(_trust_situation(situation)) if served.is_reencrypting(instance) else None
    revisions = secret_revisions(situation, trust.bundle if trust else None)
    bound = _Configs(configs, revisions)
    engine, gateway = _engine(situation), _gateway(situation, bound)
    is_recorded = (engine.status, gateway.status) == (stored.engine_tls, stored.gateway_tls)
    broken = revocation_problem(situation)
    published = _published(situation, trust, bound) if is_recorded and not broken else _withdrawn(situation, trust)
    plan = TLSPlan(
        engine_status=engine.status,
        engine_verdict=_engine_verdict(situation, engine, bound),
        gateway_status=gateway.status,
        gateway_verdict=gateway.verdict,
        published=published,
        bundle=trust.bundle if trust else None,
        revisions=revisions,
        # A record that stays while the spec is not valid says nothing about what that spec would render.
        holds_gateway=not is_recorded or bool(broken) or bool(situation.spec_problem and stored.gateway_tls),
        revocation_problem=broken,
        ensures_anchor=engine.ensures_anchor and situation.has_cert_manager,
        ensures_certificate=gateway.ensures_certificate and situation.has_cert_manager,
    )
    return replace(plan, look_again=_look_again(plan, trust, is_recorded=is_recorded))


def _engine_verdict(situation: TLSSituation, engine: EngineTLSPlan, configs: _Configs) -> Verdict:
    stored, rollout = situation.instance.status, situation.gateway.rollout
    return followed(
        engine.verdict,
        find_condition(stored.conditions, names.CONDITION_ENGINE_TLS_READY),
        is_recorded=engine.status == stored.engine_tls,
        is_served=rollout is not None and rollout.serves(configs.config_hash(stored.gateway_tls)),
    )


def _look_again(plan: TLSPlan, trust: TrustPlan | None, *, is_recorded: bool) -> LookAgain:
    if not is_recorded:
        return AtOnce()
    is_trusted = trust is None or plan.published == trust.may_publish == frozenset(trust.bundle.authorities)
    is_ready = plan.engine_verdict.status == plan.gateway_verdict.status == "True"
    return WHEN_CHANGED if is_ready and is_trusted else POLL


def _published(situation: TLSSituation, trust: TrustPlan | None, configs: _Configs) -> frozenset[str]:
    """The bundle is written already, and every pod of the gateway was started for it."""
    if trust is None:
        return frozenset()
    rollout, status = situation.gateway.rollout, situation.instance.status
    is_written = trust.bundle == situation.gateway.bundle
    is_served = is_written and rollout is not None and rollout.serves(configs.config_hash(status.gateway_tls))
    told = published_authorities(frozenset(status.rolled_engine_trust_cas), trust, is_served=is_served)
    return without_unlisted(situation, told, trust.bundle)


def _withdrawn(situation: TLSSituation, trust: TrustPlan | None) -> frozenset[str]:
    before = frozenset(situation.instance.status.rolled_engine_trust_cas)
    return frozenset() if trust is None else published_authorities(before, trust, is_served=False)


def _trust_situation(situation: TLSSituation) -> TrustSituation:
    anchor = situation.of(names.engine_tls_anchor_name(situation.instance.metadata.name)).secret
    return TrustSituation(
        seen=situation.generations,
        anchor=anchor.authority if anchor else "",
        bundle=situation.gateway.bundle,
        published=frozenset(situation.instance.status.rolled_engine_trust_cas),
    )


def _engine(situation: TLSSituation) -> EngineTLSPlan:
    instance = situation.instance
    name = names.engine_tls_anchor_name(instance.metadata.name)
    plan = decide_engine_tls(
        EngineTLSSituation(
            listener=served.engine_listener(instance),
            status=instance.status.engine_tls,
            now=situation.now,
            listeners=situation.listeners,
            expected_hash=situation.expected_hash,
            anchor_name=name,
            anchor=situation.of(name),
            spec_problem=situation.spec_problem,
        )
    )
    if situation.engine_problem is not None and plan.ensures_anchor:
        kept = kept_verdict(instance, names.CONDITION_ENGINE_TLS_READY, situation.engine_problem)
        return replace(plan, status=instance.status.engine_tls, verdict=kept)
    return replace(plan, verdict=_explained(plan.verdict, situation))


def _gateway(situation: TLSSituation, configs: _Configs) -> GatewayTLSPlan:
    instance, problem = situation.instance, situation.gateway_problem
    listener = served.gateway_listener(instance)
    own = listener.secret_ref if listener else None
    clients = listener.client_ca_secret_ref if listener else None
    name = names.gateway_tls_name(instance.metadata.name)
    ready = find_condition(instance.status.conditions, names.CONDITION_GATEWAY_TLS_READY)
    plan = decide_gateway_tls(
        GatewayTLSSituation(
            listener=listener,
            status=instance.status.gateway_tls,
            now=situation.now,
            certificate_name=name,
            rollout=situation.gateway.rollout,
            # Not with a condition that was true because nothing had been asked for.
            is_ready=ready is not None and ready.is_true and ready.reason == InstanceReason.READY,
            certificate=situation.of(own.name if own else name),
            client_authority=situation.of(clients.name).secret if clients else None,
            spec_problem=situation.spec_problem,
            reissue_problem=problem.text if problem else "",
        ),
        configs,
    )
    if problem is not None and plan.verdict.reason == InstanceReason.CERTIFICATE_ENSURE_FAILED:
        return replace(plan, verdict=kept_verdict(instance, names.CONDITION_GATEWAY_TLS_READY, problem))
    return replace(plan, verdict=_explained(plan.verdict, situation))


def _explained(verdict: Verdict, situation: TLSSituation) -> Verdict:
    if verdict.reason != InstanceReason.CERTIFICATE_PENDING or situation.has_cert_manager:
        return verdict
    return replace(verdict, message=verdict.message.replace("cert-manager", "cert-manager, which is not installed,", 1))
