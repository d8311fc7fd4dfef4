"""One pass, top to bottom: setup, facts, decision, writes in a crash-safe order, one status."""

from collections.abc import Sequence
from dataclasses import replace

from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.instance_id import ENTROPY_BYTES, mint_instance_id
from firebolt_operator.api.names import EventReason
from firebolt_operator.auth.decide.outcome import AuthOutcome
from firebolt_operator.errors import FencedError, OperatorError, SpecRejectedError, TransientError
from firebolt_operator.instance.act.writes import StepFailure, carry_out, patch_instance
from firebolt_operator.instance.decide.components import (
    Situation,
    decide_checks,
    decide_instance,
    status_after,
    step_problem,
)
from firebolt_operator.instance.decide.setup import decide_setup
from firebolt_operator.instance.decide.steps import unconfirmed
from firebolt_operator.instance.dependencies import InstanceDependencies
from firebolt_operator.instance.identity import Rewritten
from firebolt_operator.instance.inventory import bundle_ref, gateway_deployment_ref
from firebolt_operator.instance.observe.observer import Observer
from firebolt_operator.instance.plan import AT_ONCE, InstancePlan, Problem, Stage
from firebolt_operator.look_again import LookAgain, sooner
from firebolt_operator.reconciling.status import INSTANCE_STATUS, put_status
from firebolt_operator.refs import Warn
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.tls.observe.gateway import gateway_seen

PASSWORD_BYTES = 12
PERMANENT_FAILURES = (EventReason.POSTGRES_CREDENTIALS_LOST, EventReason.INSTANCE_ID_CHANGED)
AUTH_WARNINGS = frozenset(
    {
        EventReason.SIGNING_KEY_ROTATION_STEP_FAILED,
        EventReason.SIGNING_KEY_ROTATION_STALLED,
        EventReason.SIGNING_KEY_PROVENANCE_REJECTED,
    }
)
"""Of what may be over, and happen again."""


class InstancePass:
    """Lives for one pass; `instance` moves on with every write of it."""

    def __init__(self, dependencies: InstanceDependencies, observer: Observer, instance: FireboltInstance) -> None:
        self._dependencies = dependencies
        self._observer = observer
        self._instance = instance
        # Whole seconds, because a status keeps no more.
        self._now = dependencies.clock.now().replace(microsecond=0)

    async def run(self) -> Outcome:
        is_success = False
        try:
            outcome = await self._work()
            is_success = True
        finally:
            self._dependencies.recorder.record(self._instance)
            if is_success:
                self._dependencies.recorder.reconciled(self._instance, self._dependencies.clock.now())
        return outcome

    async def _work(self) -> Outcome:
        setup = decide_setup(self._instance, new_id=await self._new_id(), now=self._now)
        if setup is not None:
            return await self._set_up(setup)
        identity = await self._dependencies.identity.run(self._instance)
        if isinstance(identity, Rewritten):
            return Outcome(f"the id is {identity.id} from now on", AT_ONCE)
        is_first_look = not self._observer.memory.has_read_live
        situation = Situation(
            instance=self._instance,
            facts=await self._observer.facts(self._instance),
            blueprint=self._dependencies.blueprints.of(self._instance),
            new_password=self._dependencies.entropy(PASSWORD_BYTES).hex(),
            now=self._now,
            identity=identity,
            operator_account=self._dependencies.operator_account,
        )
        situation = await self._with_features(situation, is_first_look=is_first_look)
        return await self._carry_out(*await self._decide(situation))

    async def _new_id(self) -> str:
        kept = "" if self._instance.spec.id else await self._observer.kept_id(self._instance)
        is_lower = self._dependencies.identity.mints_lower_case(self._instance)
        return kept or mint_instance_id(self._now, self._dependencies.entropy(ENTROPY_BYTES), is_lower=is_lower)

    async def _with_features(self, situation: Situation, *, is_first_look: bool) -> Situation:
        spec, live = self._instance.spec, situation.facts.live
        if (spec.asks_for_auth or spec.tls is not None) and decide_checks(situation) is not None:
            return situation
        auth = await self._dependencies.auth.run(self._instance, is_first_look=is_first_look)
        uid, deployment = self._instance.metadata.uid, live.get(gateway_deployment_ref(self._instance))
        seen = gateway_seen(uid, deployment, live.get(bundle_ref(self._instance)))
        tls = await self._dependencies.tls.run(self._instance, seen, situation.blueprint, is_first_look=is_first_look)
        return replace(situation, auth=auth, tls=tls)

    async def _decide(self, situation: Situation) -> tuple[Situation, InstancePlan]:
        """Nothing is made for the first time before the server itself says that its name is free."""
        plan = decide_instance(situation)
        while refs := unconfirmed(plan.steps, situation.facts):
            facts = await self._observer.confirmed(self._instance, situation.facts, refs)
            situation = replace(situation, facts=facts)
            plan = decide_instance(situation)
        return situation, plan

    async def _set_up(self, plan: InstancePlan) -> Outcome:
        if plan.patch is not None:
            await patch_instance(self._instance, plan.patch, self._dependencies.writer)
        else:
            for reason in PERMANENT_FAILURES:
                self._dependencies.warner.settle(self._instance.metadata, reason)
            await self._write(plan.status)
        return Outcome(plan.reason, plan.look_again)

    async def _carry_out(self, situation: Situation, plan: InstancePlan) -> Outcome:
        failure = await carry_out(plan.steps, self._dependencies.writer, self._observer.memory.answers)
        problem = plan.problem if failure is None else step_problem(failure.step, str(failure.error))
        await self._warn(situation.auth, () if problem else plan.warnings)
        if problem is not None:
            raise _together(await self._end_early(situation, problem, failure), *_errors(situation))
        await self._write(plan.status)
        errors = _errors(situation)
        if errors:
            raise _together(*errors)
        return Outcome(plan.reason, _look_again(situation, plan.look_again), is_settled=plan.is_settled)

    async def _warn(self, auth: AuthOutcome | None, warnings: Sequence[Warn]) -> None:
        """Before the status: whoever dies in between warns again rather than never."""
        told = (*warnings, *(auth.warnings if auth else ()))
        for warning in told:
            await self._dependencies.warner.warn(self._instance.metadata, warning)
        if self._instance.spec.asks_for_auth and auth is not None:
            for reason in AUTH_WARNINGS.difference(warning.reason for warning in told):
                self._dependencies.warner.settle(self._instance.metadata, reason)

    async def _end_early(
        self, situation: Situation, problem: Problem, failure: StepFailure | None
    ) -> OperatorError | ExceptionGroup[OperatorError]:
        """The error that the pass ends with; the root cause comes first and is never lost."""
        error = _error(problem, failure)
        try:
            await self._write(status_after(situation, problem))
        except FencedError:
            raise
        except OperatorError as status_error:
            return ExceptionGroup("neither the pass nor its status went through", [error, status_error])
        return error

    async def _write(self, status: InstanceStatus) -> None:
        if status == self._instance.status:
            return
        self._instance = await put_status(
            INSTANCE_STATUS, self._instance, status, reader=self._dependencies.reader, writer=self._dependencies.writer
        )


def _errors(situation: Situation) -> list[OperatorError]:
    """Of the steps for authentication and TLS, which end no pass."""
    found = (situation.auth.error if situation.auth else None, situation.tls.error if situation.tls else None)
    return [error for error in found if error is not None]


def _look_again(situation: Situation, planned: LookAgain) -> LookAgain:
    for outcome in (situation.auth, situation.tls.plan if situation.tls else None):
        planned = sooner(planned, outcome.look_again) if outcome else planned
    return planned


def _together(error: Exception, *more: Exception) -> Exception:
    return ExceptionGroup("more than one step of the pass failed", [error, *more]) if more else error


def _error(problem: Problem, failure: StepFailure | None) -> OperatorError:
    if problem.stage is Stage.CHECKS:
        # Only an edit helps, and an edit starts a pass.
        return SpecRejectedError(f"{problem.condition} ({problem.reason})", problem.message)
    kind = TransientError if failure is None or isinstance(failure.error, TransientError) else OperatorError
    error = kind(str(problem))
    error.__cause__ = None if failure is None else failure.error
    return error
