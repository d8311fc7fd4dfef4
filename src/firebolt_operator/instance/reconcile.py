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
from firebolt_operator.instance.observe.observer import Observer
from firebolt_operator.instance.plan import InstancePlan, Problem, Stage
from firebolt_operator.look_again import sooner
from firebolt_operator.reconciling.status import INSTANCE_STATUS, put_status
from firebolt_operator.refs import Warn
from firebolt_operator.runtime.controller import Outcome

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
        is_first_look = not self._observer.memory.has_read_live
        situation = Situation(
            instance=self._instance,
            facts=await self._observer.facts(self._instance),
            blueprint=self._dependencies.blueprints.of(self._instance),
            new_password=self._dependencies.entropy(PASSWORD_BYTES).hex(),
            now=self._now,
            operator_account=self._dependencies.operator_account,
        )
        situation = await self._with_auth(situation, is_first_look=is_first_look)
        return await self._carry_out(*await self._decide(situation))

    async def _new_id(self) -> str:
        kept = "" if self._instance.spec.id else await self._observer.kept_id(self._instance)
        return kept or mint_instance_id(self._now, self._dependencies.entropy(ENTROPY_BYTES))

    async def _with_auth(self, situation: Situation, *, is_first_look: bool) -> Situation:
        if self._instance.spec.asks_for_auth and decide_checks(situation) is not None:
            return situation
        outcome = await self._dependencies.auth.run(self._instance, is_first_look=is_first_look)
        return replace(situation, auth=outcome)

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
            raise _together(await self._end_early(situation, problem, failure), situation.auth)
        await self._write(plan.status)
        if situation.auth is None:
            return Outcome(plan.reason, plan.look_again, is_settled=plan.is_settled)
        if situation.auth.error is not None:
            raise situation.auth.error
        return Outcome(plan.reason, sooner(plan.look_again, situation.auth.look_again), is_settled=plan.is_settled)

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


def _together(error: Exception, auth: AuthOutcome | None) -> Exception:
    if auth is None or auth.error is None:
        return error
    return ExceptionGroup("the pass failed, and so did the step for authentication", [error, auth.error])


def _error(problem: Problem, failure: StepFailure | None) -> OperatorError:
    if problem.stage is Stage.CHECKS:
        # Only an edit helps, and an edit starts a pass.
        return SpecRejectedError(f"{problem.condition} ({problem.reason})", problem.message)
    kind = TransientError if failure is None or isinstance(failure.error, TransientError) else OperatorError
    error = kind(str(problem))
    error.__cause__ = None if failure is None else failure.error
    return error
