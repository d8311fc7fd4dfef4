"""What does an instance do next? Decided from its spec, its status and what was seen.

Objects are made in the order in which they depend on each other, and every write can be repeated: a process may die
between any two of them, and the next one goes on from what it finds.
"""

from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.names import InstancePhase, InstanceReason
from firebolt_operator.auth.decide.outcome import AuthOutcome
from firebolt_operator.instance.blueprint import Blueprint
from firebolt_operator.instance.decide.database import Lost, Proceed, Stuck, Wait, decide_postgres
from firebolt_operator.instance.decide.failures import PermanentFailure, changed_id
from firebolt_operator.instance.decide.status import Draft
from firebolt_operator.instance.decide.steps import gateway_steps, guard_steps, metadata_service_steps, trust_steps
from firebolt_operator.instance.facts import InstanceFacts
from firebolt_operator.instance.plan import FAILED_REST, POLL, REST, InstancePlan, Problem, Refuse, Stage, Step
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import rejected_component
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Warn
from firebolt_operator.tls.plan import TLSOutcome, TLSPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything a decision depends on."""

    instance: FireboltInstance
    facts: InstanceFacts
    blueprint: Blueprint
    new_password: str  # for a database that has none yet
    now: datetime
    operator_account: str = ""  # NAMESPACE/NAME, no gateway may use it
    identity: Verdict | None = None  # what is to be said of the id; None: nothing
    auth: AuthOutcome | None = None  # None: nobody looked, because the pass does not get that far
    tls: TLSOutcome | None = None  # as above

    @property
    def draft(self) -> Draft:
        draft = Draft(self.instance, self.now, self.instance.status)
        return draft.told(names.CONDITION_INSTANCE_ID_CANONICAL, self.identity) if self.identity else draft

    @property
    def tls_plan(self) -> TLSPlan:
        if self.tls is None:
            raise RuntimeError(f"nobody looked at the TLS of {self.instance.metadata.name}")
        return self.tls.plan


def decide_instance(situation: Situation) -> InstancePlan:
    return decide_checks(situation) or _decide_components(situation)


def decide_checks(situation: Situation) -> InstancePlan | None:
    """Whatever ends the pass before any component is looked at."""
    if InstancePhase(situation.instance.status.phase) is InstancePhase.FAILED:
        status = _without_lost_components(situation.draft, situation.facts).finished()
        return InstancePlan(reason="failed until a person clears it", status=status, look_again=FAILED_REST)
    failure = changed_id(situation.instance)
    if failure is not None:
        return _fail_for_good(situation, failure)
    rejected = rejected_component(situation.instance, situation.operator_account)
    if rejected is not None:
        return _stop(
            situation,
            Problem(
                stage=Stage.CHECKS,
                condition=rejected.condition,
                reason=rejected.reason,
                message=aggregate(rejected.errors),
                needs_person=True,
            ),
        )
    return None


def status_after(situation: Situation, problem: Problem) -> InstanceStatus:
    """A pass that ends early: what was evaluated counts, the rest keeps its last word unless it is gone."""
    facts, draft = situation.facts, situation.draft
    if problem.stage is not Stage.CHECKS:
        draft = draft.with_features(situation.auth, situation.tls)
    if problem.stage is Stage.GATEWAY:
        draft = draft.with_metadata_service(is_ready=facts.metadata_service.is_ready)
    draft = _without_lost_components(draft, facts)
    if problem.clears_metadata_service:
        draft = draft.without_metadata_service()
    if problem.clears_gateway:
        draft = draft.without_gateway()
    draft = draft.told(problem.condition, Verdict("False", problem.reason, problem.message))
    return draft.finished(stalled_by=problem.condition if problem.needs_person else "")


def step_problem(step: Step, error: str) -> Problem:
    is_gateway = step.stage in {Stage.GUARD, Stage.GATEWAY}
    return Problem(
        stage=step.stage,
        condition=names.CONDITION_GATEWAY_READY if is_gateway else names.CONDITION_METADATA_READY,
        reason=step.reason,
        message=f"{step.doing}: {error}",
        needs_person=isinstance(step.write, Refuse),
    )


def _without_lost_components(draft: Draft, facts: InstanceFacts) -> Draft:
    """An endpoint is cleared whenever its own component is not ready, however far the pass came."""
    if facts.metadata_service.is_lost:
        draft = draft.metadata_service_lost()
    return draft.gateway_lost() if facts.gateway.is_lost else draft


def _decide_components(situation: Situation) -> InstancePlan:
    instance, facts = situation.instance, situation.facts
    # Whatever keeps the gateway from its turn: one that runs already has to be limited.
    guard = guard_steps(situation.blueprint, facts)
    match decide_postgres(instance, facts, situation.blueprint, situation.new_password):
        case Lost(failure):
            return _fail_for_good(situation, failure)
        case Stuck(problem):
            return _stop(situation, problem, guard)
        case Wait(message):
            verdict = Verdict("False", InstanceReason.PROVISIONING, message)
            draft = situation.draft.with_features(situation.auth, situation.tls).without_metadata_service()
            return _poll(draft.told(names.CONDITION_METADATA_READY, verdict), facts, guard, message)
        case Proceed(steps):
            return _decide_metadata_service(situation, (*guard, *steps))


def _decide_metadata_service(situation: Situation, done: tuple[Step, ...]) -> InstancePlan:
    facts = situation.facts
    unwritable = situation.blueprint.problem()
    if unwritable is not None:
        text = f"ensuring metadata configmap: {unwritable}"
        problem = _metadata_service_problem(InstanceReason.ENSURE_FAILED, text, needs_person=True)
        return _stop(situation, problem, done)
    steps = (
        *done,
        *metadata_service_steps(situation.blueprint, facts),
        # Whether the gateway's turn comes or not: engines wait for it, and what it holds must not be forgotten.
        *trust_steps(situation.blueprint, facts, situation.tls_plan.bundle),
    )
    if facts.metadata_service.problem:
        return _stop(
            situation, _metadata_service_problem(InstanceReason.PROBE_FAILED, facts.metadata_service.problem), steps
        )
    draft = situation.draft.with_features(situation.auth, situation.tls)
    draft = draft.with_metadata_service(is_ready=facts.metadata_service.is_ready)
    if not facts.metadata_service.is_ready:
        return _poll(draft, facts, steps, "waiting for the metadata service")
    return _decide_gateway(situation, draft, steps)


def _decide_gateway(situation: Situation, draft: Draft, done: tuple[Step, ...]) -> InstancePlan:
    gateway = situation.facts.gateway
    tls = situation.tls_plan
    # What its pods are given is recorded first: whoever dies in between must know how much they let in.
    steps = done if tls.holds_gateway else (*done, *gateway_steps(situation.blueprint, situation.facts, tls.revisions))
    if tls.revocation_problem:
        return _stop(situation, _revocation_problem(tls.revocation_problem), steps)
    if gateway.problem:
        problem = Problem(
            stage=Stage.GATEWAY,
            condition=names.CONDITION_GATEWAY_READY,
            reason=InstanceReason.PROBE_FAILED,
            message=gateway.problem,
        )
        return _stop(situation, problem, steps)
    reason = "at rest" if gateway.is_ready else "waiting for the gateway"
    status = draft.with_gateway(is_ready=gateway.is_ready).finished()
    # Keys and certificates are renewed when their time has come.
    has_deadlines = situation.instance.spec.auth is not None or situation.instance.spec.tls is not None
    is_settled = gateway.is_ready and not has_deadlines
    return InstancePlan(reason=reason, status=status, look_again=REST, steps=steps, is_settled=is_settled)


def _revocation_problem(message: str) -> Problem:
    return Problem(
        stage=Stage.GATEWAY,
        condition=names.CONDITION_GATEWAY_READY,
        reason=InstanceReason.CRL_SECRET_PREFLIGHT_FAILED,
        message=message,
        clears_gateway=True,
    )


def _poll(draft: Draft, facts: InstanceFacts, steps: tuple[Step, ...], reason: str) -> InstancePlan:
    """The gateway waits for the metadata service to be made; what is known of it is told all the same."""
    if not facts.gateway.problem:
        draft = draft.with_gateway(is_ready=facts.gateway.is_ready)
    return InstancePlan(reason=reason, status=draft.finished(), look_again=POLL, steps=steps)


def _stop(situation: Situation, problem: Problem, steps: tuple[Step, ...] = ()) -> InstancePlan:
    return InstancePlan(
        reason=str(problem),
        status=status_after(situation, problem),
        look_again=REST,
        steps=steps,
        problem=problem,
    )


def _fail_for_good(situation: Situation, failure: PermanentFailure) -> InstancePlan:
    """Clearing the endpoint keeps new engine pods from starting on a database or an id that is in doubt."""
    draft = _without_lost_components(situation.draft, situation.facts).without_metadata_service()
    verdict = Verdict("False", failure.reason, failure.message)
    draft = draft.told(names.CONDITION_METADATA_READY, verdict).in_phase(InstancePhase.FAILED)
    return InstancePlan(
        reason=f"{failure.reason}: {failure.message}",
        status=draft.finished(),
        look_again=FAILED_REST,
        warnings=(Warn(reason=failure.reason, action="Reconcile", note=failure.message),),
    )


def _metadata_service_problem(reason: str, message: str, *, needs_person: bool = False) -> Problem:
    return Problem(
        stage=Stage.METADATA_SERVICE,
        condition=names.CONDITION_METADATA_READY,
        reason=reason,
        message=message,
        needs_person=needs_person,
    )
