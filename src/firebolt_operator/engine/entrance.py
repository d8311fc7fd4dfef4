"""Does an engine pass the gates, and with what? Looks up what the gates judge, and sends the Events they call for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EngineReason, EventReason
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES
from firebolt_operator.engine import gates
from firebolt_operator.engine.drain_rules import effective_drain_rules
from firebolt_operator.engine.draining import DrainRules
from firebolt_operator.engine.effective import effective_progress_deadline
from firebolt_operator.engine.gates import Blocked, Missing, TemplateVerdict
from firebolt_operator.engine.inputs import ClassInfo, InstanceInfo
from firebolt_operator.engine.spec_problems import spec_problems
from firebolt_operator.engine.surroundings import Surroundings
from firebolt_operator.errors import TransientError
from firebolt_operator.policy.field_errors import FieldError, aggregate
from firebolt_operator.refs import Ref, Warn

NO_INSTANCE = InstanceInfo(id="", metadata_endpoint="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for an engine whether or not it is let in."""

    to_mend: Stalled | None  # what a person must do
    progress_deadline: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """What the decision rests on besides the engine itself."""

    engine_class: ClassInfo | None
    instance: InstanceInfo
    drain: DrainRules
    terms: Terms
    unresolved: str = ""  # why the instance is not known after all, where it had to be looked up


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedAway:
    """Nothing is decided. Without `blocked`, Ready goes on telling what serves."""

    terms: Terms
    blocked: Blocked | None = None
    is_instance_ready: bool = False
    failure: TransientError | None = None  # raised once all is told


@dataclass(frozen=True, slots=True)
class Entrance:
    around: Surroundings
    engine: FireboltEngine
    spec: EngineSpec

    async def admit(self) -> Admitted | TurnedAway:
        found = await self._class()
        inherited = found if isinstance(found, ClassInfo) else None
        terms = Terms(
            to_mend=spec_problems(self.spec, inherited, self.around.settings.bounds),
            progress_deadline=effective_progress_deadline(self.spec, inherited),
        )
        if isinstance(found, Missing):
            return self._without_class(found, terms)
        if isinstance(found, Blocked):
            return TurnedAway(terms=terms, blocked=found)
        instance = self._instance()
        if isinstance(instance, Blocked):
            return TurnedAway(terms=terms, blocked=instance)
        if self.spec.replicas > self.around.settings.bounds.replicas:
            # Before anything is rendered: every node would be named in every node's configuration.
            return TurnedAway(terms=terms, is_instance_ready=True)
        template = self._template(inherited, instance)
        if template.refused is not None:
            return TurnedAway(terms=terms, blocked=template.refused, is_instance_ready=True)
        await self._warn_dropped_volumes(template.dropped)
        rules = effective_drain_rules(self.spec, inherited, self.around.settings.drain_settle)
        return Admitted(engine_class=inherited, instance=instance, drain=rules, terms=terms)

    def _without_class(self, missing: Missing, terms: Terms) -> TurnedAway:
        """What is known of the instance is told all the same: an engine may well serve without its class."""
        instance = self._instance()
        to_mend = terms.to_mend or Stalled(EngineReason.ENGINE_CLASS_MISSING, missing.message)
        return TurnedAway(
            terms=replace(terms, to_mend=to_mend),
            blocked=instance if isinstance(instance, Blocked) else None,
            is_instance_ready=isinstance(instance, InstanceInfo),
            failure=TransientError(missing.message),
        )

    def resolved(self, admitted: Admitted) -> Admitted:
        """With the instance, for objects that were lost and are made again: as strictly as for new ones."""
        instance = self._found_instance()
        if isinstance(instance, Blocked):
            return replace(admitted, unresolved=(instance.instance or instance.ready).message)
        judged = gates.judge_template(self.spec, admitted.engine_class, instance, self.around.settings.bounds)
        unresolved = judged.refused.ready.message if judged.refused else ""
        return replace(admitted, instance=instance, unresolved=unresolved)

    @property
    def _is_gated(self) -> bool:
        """The other phases finish a rollout that is rendered already, and know nothing of the instance."""
        return self.engine.status.phase in gates.GATED_PHASES

    async def _class(self) -> ClassInfo | Missing | Blocked | None:
        name = self.spec.engine_class_ref
        if not name:
            return None
        ref = Ref(FIREBOLT_ENGINE_CLASSES, self.engine.metadata.namespace, name)
        found = gates.class_gate(ref, await self.around.observer.engine_class(ref.namespace, ref.name))
        if isinstance(found, Missing):
            await self._warn(EventReason.ENGINE_CLASS_MISSING, found.message)
        else:
            self._settle(EventReason.ENGINE_CLASS_MISSING)
        return found

    def _instance(self) -> InstanceInfo | Blocked:
        return self._found_instance() if self._is_gated else NO_INSTANCE

    def _found_instance(self) -> InstanceInfo | Blocked:
        ref = Ref(FIREBOLT_INSTANCES, self.engine.metadata.namespace, self.spec.instance_ref)
        return gates.instance_gate(ref, self.around.caches.instances.known((ref.namespace, ref.name)))

    def _template(self, inherited: ClassInfo | None, instance: InstanceInfo) -> TemplateVerdict:
        spec, bounds = self.spec, self.around.settings.bounds
        return self.around.template_verdicts.answer(
            self.engine.metadata.uid,
            (spec, inherited, instance.protected_secrets),
            lambda: gates.judge_template(spec, inherited, instance, bounds),
        )

    async def _warn_dropped_volumes(self, dropped: Sequence[FieldError]) -> None:
        if dropped:
            note = "template volumes reaching operator-managed Secrets were dropped from the rendered pod: "
            await self._warn(EventReason.SECRET_ALIAS_VOLUME_DROPPED, note + aggregate(dropped))
        elif self._is_gated:  # the only phases that know the instance's Secrets
            self._settle(EventReason.SECRET_ALIAS_VOLUME_DROPPED)

    async def _warn(self, reason: EventReason, note: str) -> None:
        await self.around.warn(self.engine, Warn(reason=reason, action="Reconcile", note=note))

    def _settle(self, reason: EventReason) -> None:
        self.around.events.settle(self.engine.metadata.uid, reason)
