"""One pass, top to bottom: preconditions, facts, decision, writes, one status, and the sweep on every way out."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineSpec, EngineStatus, FireboltEngine
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EnginePhase, EngineReason
from firebolt_operator.engine.act.replicas import TERMINAL, Adjustment, ReplicaAdjuster
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.conditions import active_facts, is_lasting, ready_verdict
from firebolt_operator.engine.decide.draining import DrainRules, judge_answers, must_ask, needs_probe
from firebolt_operator.engine.decide.gates import Refusal
from firebolt_operator.engine.decide.keys import commits_to_keys
from firebolt_operator.engine.decide.losses import must_be_rendered
from firebolt_operator.engine.decide.news import rollout_news
from firebolt_operator.engine.decide.phases import decide_phase, is_arriving
from firebolt_operator.engine.decide.progress import Findings, overdue_generation, overdue_warning
from firebolt_operator.engine.decide.report import Report
from firebolt_operator.engine.decide.routing import foreign_service, standing_routes
from firebolt_operator.engine.decide.situation import Situation
from firebolt_operator.engine.dependencies import EngineDependencies
from firebolt_operator.engine.facts import NOTHING_YET, EngineFacts
from firebolt_operator.engine.inherited_settings import effective_disruption_budget
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs, InstanceInfo, PresetInfo
from firebolt_operator.engine.observe.scrape_lane import Purpose, Topic
from firebolt_operator.engine.plan import AT_ONCE, Plan
from firebolt_operator.engine.preconditions import NO_INSTANCE, Blocked, Met, Terms
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import (
    FencedError,
    InvalidError,
    OperatorError,
    RejectedError,
    TransientError,
    UnreadableError,
)
from firebolt_operator.look_again import After, WhenChanged, sooner
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest, News
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.objects import Key

GATE_WAIT = After(timedelta(seconds=10))
BACKLOG_WAIT = After(timedelta(seconds=2))
UNREADABLE_WAIT = After(timedelta(minutes=5))  # a change of what could not be read brings a pass of its own
NO_SPEC = EngineSpec(instance_ref="", replicas=0)

log = logging.getLogger("firebolt_operator.engine")


class EnginePass:
    """Lives for one pass; `engine` moves on with every write of it."""

    def __init__(self, dependencies: EngineDependencies, engine: FireboltEngine) -> None:
        self._dependencies = dependencies
        self._engine = engine
        self._spec = engine.spec or NO_SPEC
        self._now = dependencies.clock.now()
        self._facts: EngineFacts | None = None

    async def run(self) -> Outcome:
        if self._engine.status.phase == EnginePhase.UNSET:
            return await self._initialise()
        errors = list[OperatorError]()
        outcome = Outcome("failed")
        try:
            outcome = await self._work_if_readable()
        except FencedError:
            raise
        except OperatorError as err:
            errors.append(err)
        finally:
            self._dependencies.rolling.release(self._key)
        # Last, and whatever happened before: an engine that never comes to rest is exactly the one that leaks. Not
        # after a RuntimeError: a status that contradicts itself condemns nothing.
        swept = await self._dependencies.sweeper.sweep(self._engine)
        errors += swept.errors
        self._record(is_success=not errors)
        _raise_all(errors)
        if swept.has_backlog:
            return replace(outcome, look_again=sooner(outcome.look_again, BACKLOG_WAIT))
        return outcome

    async def _initialise(self) -> Outcome:
        status = msgspec.structs.replace(self._engine.status, phase=EnginePhase.CREATING, active_generation=-1)
        before = self._engine.status
        await self._write(await self._first_words(status))
        await self._tell(*rollout_news(before, status, "the first one"))
        self._record(is_success=True)
        return Outcome("status initialised", AT_ONCE)

    async def _first_words(self, begun: EngineStatus) -> EngineStatus:
        """All that the next pass would tell, so that it need not: it comes at once, and makes the first objects."""
        text = "Engine status has not yet been populated"
        verdict = Verdict(status="False", reason=EngineReason.INITIALIZING, message=text)
        blank = self._report.concluded(begun, Findings(ready=verdict))
        engine = msgspec.structs.replace(self._engine, status=begun)
        try:
            met = await self._dependencies.preconditions.check(engine, self._spec)
        except FencedError:
            raise
        except (OperatorError, RecursionError):
            return blank  # the next pass finds the same, and tells it
        if isinstance(met, Blocked):
            return blank
        self._facts = NOTHING_YET
        # From the blank one, which has `Ready` before the others, as people are used to see it.
        status = Report(msgspec.structs.replace(engine, status=blank), self._now).status
        ready = ready_verdict(status, self._facts, self._spec.replicas)
        told = self._report.concluded(status, Findings(ready=ready, to_mend=met.terms.to_mend))
        return (await self._adjust_replicas(told, met.engine_class)).status

    async def _work_if_readable(self) -> Outcome:
        try:
            return await self._work()
        except UnreadableError as err:
            problem = str(err)
        except RecursionError:
            # The decoder goes a little deeper than what renders and compares.
            problem = "the engine's own spec is nested too deeply to be rendered"
        failures = await self._stay_reachable()
        await self._write(self._report.stalled(problem))
        _raise_all(failures)
        return Outcome(f"unreadable: {problem}", UNREADABLE_WAIT)

    async def _stay_reachable(self) -> list[OperatorError]:
        """What leads to a running generation follows from names alone, and is restored whatever cannot be read."""
        try:
            self._facts = self._facts or await self._dependencies.observer.at_a_glance.facts(self._engine)
            return await self._restore_routes()
        except (UnreadableError, RecursionError):
            return []  # one of its own objects: nobody can tell what is lost

    async def _work(self) -> Outcome:
        preconditions = self._dependencies.preconditions
        met = await preconditions.check(self._engine, self._spec)
        if isinstance(met, Blocked):
            return await self._tell_blocked(met)
        self._facts = await self._dependencies.observer.facts(self._engine)
        foreign = self._foreign_service()
        if foreign is not None:
            return await self._tell_blocked(Blocked(terms=met.terms, refusal=Refusal(foreign), is_instance_ready=True))
        self._look_at_drain(met.drain)
        if must_be_rendered(self._engine.status, self._observed, self._spec.replicas, self._engine.metadata.uid):
            met = await preconditions.resolve_instance(self._engine, self._spec, met)
        elif is_arriving(self._engine.status):
            met = await self._resolved_if_readable(met)
        plan = self._decide(met)
        if met.instance.is_secured and commits_to_keys(self._engine.status, self._observed, plan):
            met = await preconditions.read_again(self._engine, self._spec, met)
            if isinstance(met, Blocked):
                return await self._tell_blocked(met)
            plan = self._decide(met)
        return await self._carry_out(plan, met)

    async def _resolved_if_readable(self, met: Met) -> Met:
        """A rollout that is rendered already ends without its instance, too."""
        try:
            return await self._dependencies.preconditions.resolve_instance(self._engine, self._spec, met)
        except UnreadableError as err:
            return replace(met, unresolved=str(err))

    def _look_at_drain(self, rules: DrainRules) -> None:
        """Nobody waits for pods here: their answer brings the next pass."""
        facts, status, topic = self._observed, self._engine.status, self._topic(Purpose.DRAIN)
        if status.phase != EnginePhase.DRAINING or status.draining_generation is None:
            return
        if not needs_probe(status, facts, rules, self._now):
            return
        answers = self._dependencies.scrapes.known(topic)
        verdict = judge_answers(answers, status, facts, rules, self._now)
        if must_ask(answers, verdict, rules, self._now):
            self._ask(topic, facts.draining.busy_pods)
        is_news = self._dependencies.scrapes.is_first_look(topic)
        if is_news and verdict is not None and verdict.problem:
            log.warning("drain probe failed", extra={"problem": verdict.problem})
            self._dependencies.recorder.drain_check_failed(self._engine)
        self._facts = replace(facts, drain=verdict)

    def _ask(self, topic: Topic, pods: Sequence[PodView]) -> None:
        self._dependencies.scrapes.ask(topic, self._spec.instance_ref, pods)

    def _topic(self, purpose: Purpose) -> Topic:
        return Topic(self._key, purpose)

    @property
    def _key(self) -> Key:
        return self._engine.metadata.namespace, self._engine.metadata.name

    def _decide(self, met: Met) -> Plan:
        rolling = self._dependencies.rolling
        origin = rolling.origin(self._engine, self._spec, met.engine_class, met.preset)
        situation = Situation(
            spec=self._spec,
            uid=self._engine.metadata.uid,
            status=self._report.status,
            facts=self._observed,
            blueprint=self._blueprint(met.engine_class, met.instance, met.preset),
            drain=met.drain,
            now=self._now,
            turn=rolling.turn(self._engine, origin, self._observed.current.statefulset),
            origin=origin,
            unresolved=met.unresolved,
            listener=met.instance.listener,
        )
        plan = decide_phase(situation)
        if plan.status.current_generation != self._engine.status.current_generation and plan.status.rollout_cause:
            rolling.claim(self._key, plan.status.rollout_cause)
        return plan

    def _blueprint(
        self, engine_class: ClassInfo | None, instance: InstanceInfo, preset: PresetInfo | None = None
    ) -> Blueprint:
        metadata = self._engine.metadata
        inputs = EngineInputs(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            spec=self._spec,
            engine_class=engine_class,
            preset=preset,
            instance=instance,
            images=self._dependencies.settings.images,
        )
        return self._dependencies.blueprint(inputs)

    async def _carry_out(self, plan: Plan, met: Met) -> Outcome:
        overdue = self._overdue(plan.status, met.terms)
        # Before the Service moves: the budget covers what it will lead to.
        status = await self._describe(plan, met.terms.with_problem(await self._keep_budget(met)), overdue)
        try:
            await self._dependencies.actor.carry_out(plan)
        except RejectedError as err:
            await self._tell_refusal(err)
            raise
        if status.phase in TERMINAL and status.current_generation != status.active_generation:
            raise RuntimeError(f"{status.phase} with two generations: {status}")
        adjusted = await self._adjust_replicas(status, met.engine_class)
        before = self._engine.status
        await self._write(adjusted.status)
        for warning in (*plan.warnings, *adjusted.warnings):
            await self._dependencies.warner.warn(self._engine.metadata, warning)
        await self._warn_overdue(overdue)
        await self._tell(*plan.news, *rollout_news(before, adjusted.status, plan.reason), *adjusted.news)
        has_deadline = not plan.is_resting or not isinstance(adjusted.look_again, WhenChanged)
        is_settled = not has_deadline and is_lasting(adjusted.status)
        return Outcome(plan.reason, sooner(plan.look_again, adjusted.look_again), is_settled=is_settled)

    async def _keep_budget(self, met: Met) -> Stalled | None:
        asked = effective_disruption_budget(self._spec, met.engine_class)
        wanted = asked.max_unavailable if asked else None
        blueprint = self._blueprint(met.engine_class, NO_INSTANCE)
        return await self._dependencies.budgets.keep(self._engine, wanted, blueprint)

    async def _describe(self, plan: Plan, terms: Terms, overdue: Stalled | None) -> EngineStatus:
        """The plan's status with what people and autoscalers read out of it."""
        status = self._report.counted(plan.status, self._observed)
        verdict = ready_verdict(status, self._observed, self._spec.replicas, plan.waiting_for)
        if plan.status.current_generation == self._engine.status.current_generation:
            # What became of the former one does not matter to the one that is about to be made, and must not delay it.
            lookup = self._dependencies.event_lookup
            verdict = await lookup.diagnose(verdict, self._observed, self._spec.replicas, self._now)
        found = Findings(
            ready=verdict,
            to_mend=terms.to_mend,
            overdue=overdue,
            queued=plan.queued,
            is_at_rest=plan.is_at_rest,
        )
        return self._report.concluded(status, found)

    async def _adjust_replicas(self, status: EngineStatus, inherited: ClassInfo | None) -> Adjustment:
        self._dependencies.unread_wakes.tell(self._engine)
        pods = active_facts(self._observed, status).running_pods
        adjuster = ReplicaAdjuster(
            engine=self._engine,
            spec=self._spec,
            engine_class=inherited,
            pods=pods,
            answers=self._dependencies.scrapes.known(self._topic(Purpose.ACTIVITY)),
            writer=self._dependencies.writer,
            now=self._now,
            most_replicas=self._dependencies.settings.bounds.replicas,
        )
        try:
            adjusted = await adjuster.adjust(status)
        except FencedError:
            raise
        except OperatorError:
            # What the pass has done so far is true and must be told, whatever becomes of the number of nodes.
            await self._write(status)
            raise
        self._engine = adjusted.engine
        return self._polled(adjusted, pods)

    def _polled(self, adjusted: Adjustment, pods: Sequence[PodView]) -> Adjustment:
        """Each engine in its turn, however many passes it gets in between."""
        if adjusted.poll_interval is None:
            return adjusted
        topic = self._topic(Purpose.ACTIVITY)
        left = self._dependencies.scrapes.turn_in(topic.engine, self._engine.metadata.uid, adjusted.poll_interval)
        if not left:
            self._ask(topic, pods)
        return replace(adjusted, look_again=After(left or adjusted.poll_interval))

    async def _tell_refusal(self, err: RejectedError) -> None:
        """What Kubernetes itself refuses is said where people look; nothing else of the plan is kept."""
        is_template = isinstance(err, InvalidError)
        reason = EngineReason.TEMPLATE_REJECTED if is_template else EngineReason.ENSURE_FAILED
        verdict = Verdict(status="False", reason=reason, message=str(err))
        await self._write(self._report.concluded(self._report.status, Findings(ready=verdict)))

    async def _tell_blocked(self, blocked: Blocked) -> Outcome:
        if self._facts is None:
            # The pods of a blocked engine run on and are counted; nothing is decided, so nothing has to be confirmed.
            self._facts = await self._dependencies.observer.at_a_glance.facts(self._engine)
        failures = [*await self._restore_routes(), *([blocked.failure] if blocked.failure else [])]
        report, refusal = self._report, blocked.refusal
        status = report.counted(report.status if blocked.is_instance_ready else self._engine.status, self._observed)
        if refusal is not None and refusal.instance is not None:
            status = report.with_condition(status, names.CONDITION_INSTANCE_READY, refusal.instance)
        ready = refusal.ready if refusal else self._foreign_service()
        ready = ready or ready_verdict(status, self._observed, self._spec.replicas)
        overdue = self._overdue(status, blocked.terms)
        found = Findings(ready=ready, to_mend=blocked.terms.to_mend, overdue=overdue)
        await self._write(report.concluded(status, found))
        await self._warn_overdue(overdue)
        _raise_all(failures)
        return Outcome(f"blocked: {blocked.why}", GATE_WAIT)

    async def _restore_routes(self) -> list[OperatorError]:
        """Whoever may not be rendered goes on serving, and must be found: answers what is raised once all is told."""
        if not self._standing_routes():
            return []
        # What seems to be missing may be somebody else's, whom a filtered cache does not know.
        self._facts = await self._dependencies.observer.facts(self._engine)
        if self._foreign_service() is not None:
            return []
        try:
            await self._dependencies.actor.ensure(self._standing_routes())
        except FencedError:
            raise
        except OperatorError as err:
            return [err]
        return []

    def _standing_routes(self) -> tuple[Manifest, ...]:
        blueprint = self._blueprint(None, NO_INSTANCE)
        return standing_routes(self._engine.status, self._observed, blueprint, self._engine.metadata.uid)

    def _foreign_service(self) -> Verdict | None:
        return foreign_service(self._observed.service, self._engine.metadata.uid)

    def _overdue(self, status: EngineStatus, terms: Terms) -> Stalled | None:
        return overdue_generation(status, self._observed.current, terms.progress_deadline, self._now)

    async def _warn_overdue(self, overdue: Stalled | None) -> None:
        if overdue is not None:
            await self._dependencies.warner.warn(self._engine.metadata, overdue_warning(overdue))

    async def _tell(self, *news: News) -> None:
        """Last of all: whoever dies before has told nobody of what happened, and nothing else is missing."""
        for each in news:
            await self._dependencies.warner.tell(self._engine.metadata, each)

    @property
    def _report(self) -> Report:
        return Report(self._engine, self._now)

    @property
    def _observed(self) -> EngineFacts:
        if self._facts is None:
            raise RuntimeError("facts are read before they are used")
        return self._facts

    async def _write(self, status: EngineStatus) -> None:
        self._engine = await self._dependencies.statuses.write(self._engine, status)

    def _record(self, *, is_success: bool) -> None:
        self._dependencies.recorder.record(self._engine, self._facts)
        if is_success:
            self._dependencies.recorder.reconciled(self._engine, self._dependencies.clock.now())


def _raise_all(errors: list[OperatorError]) -> None:
    if not errors:
        return
    if len(errors) == 1:
        raise errors[0]
    raise TransientError("; ".join(str(error) for error in errors)) from errors[0]
