"""The pass proper: gates, facts, decision, writes, one status, and the sweep on every way out."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import EngineSpec, EngineStatus, FireboltEngine
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EnginePhase, EngineReason, ScrapeMode
from firebolt_operator.engine import gates
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.conditions import Verdict, instance_ready, ready_verdict, with_verdict
from firebolt_operator.engine.counting import active_facts, counted
from firebolt_operator.engine.diagnosis import EventLookup, diagnosed
from firebolt_operator.engine.draining import DrainRules, needs_probe
from firebolt_operator.engine.entrance import NO_INSTANCE, Admitted, Entrance, Terms, TurnedAway
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.gates import Blocked
from firebolt_operator.engine.gauges import Activity
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs, InstanceInfo
from firebolt_operator.engine.losses import must_be_rendered
from firebolt_operator.engine.parking import TERMINAL, Keeper, Parking
from firebolt_operator.engine.phases import decide_phase
from firebolt_operator.engine.plan import Plan
from firebolt_operator.engine.progress import Findings, overdue_generation, overdue_warning, with_findings
from firebolt_operator.engine.routing import foreign_service, standing_routes
from firebolt_operator.engine.scrape import metrics_source, probe_drain
from firebolt_operator.engine.situation import Situation
from firebolt_operator.engine.surroundings import Surroundings
from firebolt_operator.engine.views import PodView
from firebolt_operator.errors import (
    FencedError,
    InvalidError,
    OperatorError,
    RejectedError,
    TransientError,
    UnreadableError,
)
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.controller import Outcome

GATE_WAIT = timedelta(seconds=10)
BACKLOG_WAIT = timedelta(seconds=2)
UNREADABLE_WAIT = timedelta(minutes=5)  # a change of what could not be read brings a pass of its own
NO_SPEC = EngineSpec(instance_ref="", replicas=0)


class EnginePass:
    """Lives for one pass; `engine` moves on with every write of it."""

    def __init__(self, around: Surroundings, engine: FireboltEngine) -> None:
        self._around = around
        self._engine = engine
        self._spec = engine.spec or NO_SPEC
        self._now = around.clock.now()
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
        # Last, and whatever happened before: an engine that never comes to rest is exactly the one that leaks. Not
        # after a RuntimeError: a status that contradicts itself condemns nothing.
        swept = await self._around.sweeper.sweep(self._engine)
        self._record(is_success=not errors and not swept.errors)
        _raise_all([*errors, *swept.errors])
        return _soon(outcome) if swept.has_backlog else outcome

    async def _work_if_readable(self) -> Outcome:
        try:
            return await self._work()
        except UnreadableError as err:
            return await self._stall(str(err))
        except RecursionError:
            # The decoder goes a little deeper than what renders and compares.
            return await self._stall("the engine's own spec is nested too deeply to be rendered")

    async def _stall(self, problem: str) -> Outcome:
        """Whatever serves goes on serving, and `Ready` goes on telling of it."""
        found = find_condition(self._engine.status.conditions, names.CONDITION_READY)
        message = f"{problem}; nothing of this engine is changed until somebody edits it or deletes it"
        if found is None:
            ready = Verdict(status="False", reason=EngineReason.UNREADABLE, message=message)
        else:
            ready = Verdict(status=found.status, reason=found.reason, message=found.message)
        findings = Findings(ready=ready, to_mend=Stalled(EngineReason.UNREADABLE, message))
        await self._write(self._concluded(self._engine.status, findings))
        return Outcome(f"unreadable: {problem}", look_again_after=UNREADABLE_WAIT)

    async def _initialise(self) -> Outcome:
        status = msgspec.structs.replace(self._engine.status, phase=EnginePhase.CREATING, active_generation=-1)
        text = "Engine status has not yet been populated"
        verdict = Verdict(status="False", reason=EngineReason.INITIALIZING, message=text)
        await self._write(self._concluded(status, Findings(ready=verdict)))
        self._record(is_success=True)
        return Outcome("status initialised", again=True)

    async def _work(self) -> Outcome:
        entrance = Entrance(self._around, self._engine, self._spec)
        admitted = await entrance.admit()
        if isinstance(admitted, TurnedAway):
            return await self._turned_away(admitted)
        self._facts = await self._around.observer.facts(self._engine)
        foreign = self._foreign_service()
        if foreign is not None:
            return await self._turned_away(
                TurnedAway(terms=admitted.terms, blocked=Blocked(foreign), is_instance_ready=True)
            )
        await self._probe_drain(admitted.drain)
        if must_be_rendered(self._engine.status, self._observed, self._spec.replicas, self._engine.metadata.uid):
            admitted = entrance.resolved(admitted)
        return await self._carry_out(self._decide(admitted), admitted)

    def _decide(self, admitted: Admitted) -> Plan:
        situation = Situation(
            spec=self._spec,
            uid=self._engine.metadata.uid,
            status=self._status_so_far(),
            facts=self._observed,
            blueprint=self._blueprint(admitted.engine_class, admitted.instance),
            drain=admitted.drain,
            now=self._now,
            unresolved=admitted.unresolved,
        )
        return decide_phase(situation)

    def _blueprint(self, engine_class: ClassInfo | None, instance: InstanceInfo) -> Blueprint:
        metadata = self._engine.metadata
        inputs = EngineInputs(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            spec=self._spec,
            engine_class=engine_class,
            instance=instance,
            images=self._around.settings.images,
        )
        return self._around.blueprint(inputs)

    async def _carry_out(self, plan: Plan, admitted: Admitted) -> Outcome:
        overdue = self._overdue(plan.status, admitted.terms)
        status = await self._told(plan, admitted.terms, overdue)
        try:
            await self._around.actor.carry_out(plan)
        except RejectedError as err:
            await self._tell_refusal(err)
            raise
        if status.phase in TERMINAL and status.current_generation != status.active_generation:
            raise RuntimeError(f"{status.phase} with two generations: {status}")
        parking = await self._park(status, admitted.engine_class)
        await self._write(parking.status)
        for warning in (*plan.warnings, *parking.warnings):
            await self._around.warn(self._engine, warning)
        await self._warn_overdue(overdue)
        return _outcome(plan, parking)

    async def _park(self, status: EngineStatus, inherited: ClassInfo | None) -> Parking:
        self._around.unread_wakes.tell(self._engine)
        try:
            keeper = Keeper(
                engine=self._engine,
                spec=self._spec,
                engine_class=inherited,
                pods=active_facts(self._observed, status).running_pods,
                scrape=self._scrape,
                writer=self._around.writer,
                now=self._now,
                most_replicas=self._around.settings.bounds.replicas,
            )
            parking = await keeper.keep(status)
        except FencedError:
            raise
        except OperatorError:
            # What the pass has done so far is true and must be told, whatever becomes of the number of nodes.
            await self._write(status)
            raise
        self._engine = parking.engine
        return parking

    async def _tell_refusal(self, err: RejectedError) -> None:
        """What Kubernetes itself refuses is said where people look; nothing else of the plan is kept."""
        is_template = isinstance(err, InvalidError)
        reason = EngineReason.TEMPLATE_REJECTED if is_template else EngineReason.ENSURE_FAILED
        verdict = Verdict(status="False", reason=reason, message=str(err))
        await self._write(self._concluded(self._status_so_far(), Findings(ready=verdict)))

    async def _told(self, plan: Plan, terms: Terms, overdue: Stalled | None) -> EngineStatus:
        """The plan's status with what people and autoscalers read out of it."""
        status = self._counted(plan.status)
        verdict = ready_verdict(status, self._observed, self._spec.replicas, plan.waiting_for)
        lookup = EventLookup(self._around.reader, self._around.recorder)
        verdict = await diagnosed(verdict, self._observed, self._spec.replicas, lookup=lookup, now=self._now)
        found = Findings(ready=verdict, to_mend=terms.to_mend, overdue=overdue, is_at_rest=plan.is_at_rest)
        return self._concluded(status, found)

    def _overdue(self, status: EngineStatus, terms: Terms) -> Stalled | None:
        return overdue_generation(status, self._observed.current, terms.progress_deadline, self._now)

    async def _warn_overdue(self, overdue: Stalled | None) -> None:
        if overdue is not None:
            await self._around.warn(self._engine, overdue_warning(overdue))

    def _counted(self, status: EngineStatus) -> EngineStatus:
        return counted(status, self._observed, self._engine.metadata.name)

    def _status_so_far(self) -> EngineStatus:
        if self._engine.status.phase not in gates.GATED_PHASES:
            return self._engine.status
        return self._with(self._engine.status, names.CONDITION_INSTANCE_READY, instance_ready())

    async def _turned_away(self, turned: TurnedAway) -> Outcome:
        blocked = turned.blocked
        if self._facts is None:
            # The pods of a blocked engine run on and are counted; nothing is decided, so nothing has to be confirmed.
            self._facts = await self._around.observer.at_a_glance.facts(self._engine)
        failures = [*await self._restore_routes(), *([turned.failure] if turned.failure else [])]
        status = self._counted(self._status_so_far() if turned.is_instance_ready else self._engine.status)
        if blocked is not None and blocked.instance is not None:
            status = self._with(status, names.CONDITION_INSTANCE_READY, blocked.instance)
        ready = blocked.ready if blocked else self._foreign_service()
        ready = ready or ready_verdict(status, self._observed, self._spec.replicas)
        overdue = self._overdue(status, turned.terms)
        found = Findings(ready=ready, to_mend=turned.terms.to_mend, overdue=overdue)
        await self._write(self._concluded(status, found))
        await self._warn_overdue(overdue)
        _raise_all(failures)
        return Outcome(f"blocked: {_why(turned)}", look_again_after=GATE_WAIT)

    async def _restore_routes(self) -> list[OperatorError]:
        """Whoever may not be rendered goes on serving, and must be found: answers what is raised once all is told."""
        if not self._standing_routes():
            return []
        # What seems to be missing may be somebody else's, whom a filtered cache does not know.
        self._facts = await self._around.observer.facts(self._engine)
        if self._foreign_service() is not None:
            return []
        try:
            await self._around.actor.ensure(self._standing_routes())
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

    async def _probe_drain(self, rules: DrainRules) -> None:
        facts, status = self._observed, self._engine.status
        draining = status.draining_generation
        if status.phase != EnginePhase.DRAINING or draining is None:
            return
        if not needs_probe(status, facts, rules, self._now):
            return
        verdict = await probe_drain(self._scrape, facts.draining.busy_pods, draining)
        if verdict.problem:
            self._around.log.warning("drain probe failed", extra={"problem": verdict.problem})
            self._around.recorder.drain_check_failed(self._engine)
        # Anew: pods may take seconds to answer, and what was seen before may be lost by then.
        self._facts = replace(await self._around.observer.facts(self._engine), drain=verdict)

    async def _scrape(self, pods: Sequence[PodView]) -> list[Activity | str]:
        source = metrics_source(self._scrape_mode(), self._around.reader)
        return await self._around.scrapes.fetch_activity(source, pods)

    def _scrape_mode(self) -> ScrapeMode:
        key = (self._engine.metadata.namespace, self._spec.instance_ref)
        instance = self._around.caches.instances.get(key)
        return ScrapeMode(instance.spec.metric_scrape_mode) if instance else ScrapeMode.APISERVER_PROXY

    @property
    def _observed(self) -> EngineFacts:
        if self._facts is None:
            raise RuntimeError("facts are read before they are used")
        return self._facts

    def _with(self, status: EngineStatus, kind: str, verdict: Verdict) -> EngineStatus:
        return with_verdict(status, kind, verdict, spec_generation=self._engine.metadata.generation, now=self._now)

    def _concluded(self, status: EngineStatus, found: Findings) -> EngineStatus:
        return with_findings(status, found, spec_generation=self._engine.metadata.generation, now=self._now)

    async def _write(self, status: EngineStatus) -> None:
        self._engine = await self._around.write_status(self._engine, status)

    def _record(self, *, is_success: bool) -> None:
        self._around.recorder.record(self._engine, self._facts)
        if is_success:
            self._around.recorder.reconciled(self._engine, self._around.clock.now())


def _why(turned: TurnedAway) -> str:
    if turned.blocked is not None:
        return (turned.blocked.instance or turned.blocked.ready).message
    return turned.terms.to_mend.message if turned.terms.to_mend else ""


def _outcome(plan: Plan, parking: Parking) -> Outcome:
    after = plan.look_again.after
    if after is None:
        return Outcome(plan.reason, again=True, is_urgent=plan.look_again.is_urgent)
    return Outcome(plan.reason, look_again_after=min(after, parking.look_again_after or after))


def _soon(outcome: Outcome) -> Outcome:
    """A backlog is worked on soon, but never later than what was asked for anyway."""
    if outcome.again:
        return outcome
    after = outcome.look_again_after
    return replace(outcome, look_again_after=BACKLOG_WAIT if after is None else min(after, BACKLOG_WAIT))


def _raise_all(errors: list[OperatorError]) -> None:
    if not errors:
        return
    if len(errors) == 1:
        raise errors[0]
    raise TransientError("; ".join(str(error) for error in errors)) from errors[0]
