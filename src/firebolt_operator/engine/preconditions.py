"""May an engine go on, and with what? Looks up what the gates judge, and sends the Events they call for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EngineReason, EventReason
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES
from firebolt_operator.engine.authentication import EngineAuthentication
from firebolt_operator.engine.decide import gates
from firebolt_operator.engine.decide.draining import DrainRules, effective_drain_rules
from firebolt_operator.engine.decide.gates import Missing, Refusal, TemplateVerdict
from firebolt_operator.engine.decide.preset_gate import preset_gate
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.engine.encryption import EngineEncryption
from firebolt_operator.engine.inherited_settings import effective_progress_deadline
from firebolt_operator.engine.inputs import ClassInfo, EngineSettings, InstanceInfo, PresetInfo
from firebolt_operator.engine.observe.observer import Observer
from firebolt_operator.errors import TransientError, UnreadableError
from firebolt_operator.policy.field_errors import FieldError, aggregate
from firebolt_operator.reconciling.memo import LastValueMemo
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live

NO_INSTANCE = InstanceInfo(id="", metadata_endpoint="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What holds for an engine whether or not it may go on."""

    to_mend: Stalled | None  # what a person must do
    progress_deadline: timedelta | None

    def with_problem(self, problem: Stalled | None) -> "Terms":
        """With one more thing to mend, after what was known already."""
        if problem is None or self.to_mend is None:
            return replace(self, to_mend=self.to_mend or problem)
        return replace(self, to_mend=replace(self.to_mend, message=f"{self.to_mend.message}; {problem.message}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What the decision rests on besides the engine itself."""

    engine_class: ClassInfo | None
    preset: PresetInfo | None = None
    is_preset_fit: bool = True  # else what its class comes to is not known either
    instance: InstanceInfo
    drain: DrainRules
    terms: Terms
    unresolved: str = ""  # why not all is known after all that rendering would take


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """Nothing is decided. Without a refusal, Ready goes on telling what serves."""

    terms: Terms
    refusal: Refusal | None = None
    is_instance_ready: bool = False
    failure: TransientError | None = None  # raised once all is told

    @property
    def why(self) -> str:
        if self.refusal is not None:
            return (self.refusal.instance or self.refusal.ready).message
        return self.terms.to_mend.message if self.terms.to_mend else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """Class, preset, instance, template and bounds, in this order; the first "no" blocks.

    A rollout that is rendered already is held up by neither class nor preset: it needs them only to make again what was
    lost.
    """

    observer: Observer
    instances: Cache[FireboltInstance]
    settings: EngineSettings
    warner: Warner
    verdicts: LastValueMemo[TemplateVerdict]
    auth: EngineAuthentication
    encryption: EngineEncryption

    async def check(self, engine: FireboltEngine, spec: EngineSpec) -> Met | Blocked:
        try:
            found = await self._class(engine, spec)
        except UnreadableError as err:
            found = _meanwhile(engine, EngineReason.CLASS_UNREADY, err)
        inherited = found if isinstance(found, ClassInfo) else None
        terms = Terms(
            to_mend=spec_problems(spec, inherited, self.settings.bounds),
            progress_deadline=effective_progress_deadline(spec, inherited),
        )
        if isinstance(found, Missing):
            terms = _lacking_class(found, terms)
            if _is_gated(engine):
                return _without_class(found, terms, await self._instance(engine, spec))
        try:
            preset = self._preset(engine, spec)
        except UnreadableError as err:
            preset = _meanwhile(engine, EngineReason.PRESET_UNREADY, err)
        for each in (found, preset):
            if isinstance(each, Refusal) and _is_gated(engine):
                return Blocked(terms=terms, refusal=each)
        instance = await self._instance(engine, spec)
        if isinstance(instance, Refusal):
            return Blocked(terms=terms, refusal=instance)
        if spec.replicas > self.settings.bounds.replicas:
            # Before anything is rendered: every node would be named in every node's configuration.
            return Blocked(terms=terms, is_instance_ready=True)
        drain = effective_drain_rules(spec, inherited, self.settings.drain_settle)
        met = Met(
            engine_class=inherited,
            preset=preset if isinstance(preset, PresetInfo) else None,
            is_preset_fit=not isinstance(preset, Refusal),
            instance=instance,
            drain=drain,
            terms=terms,
            unresolved=_why_unresolved(found),
        )
        return await self._with_template(engine, spec, met)

    async def read_again(self, engine: FireboltEngine, spec: EngineSpec, met: Met) -> Met | Blocked:
        """With the instance and its Secrets as the server has them at this moment."""
        instance = await self._found_instance(engine, spec, is_live=True)
        if isinstance(instance, Refusal):
            return Blocked(terms=met.terms, refusal=instance)
        return await self._with_template(engine, spec, replace(met, instance=instance))

    async def resolve_instance(self, engine: FireboltEngine, spec: EngineSpec, met: Met) -> Met:
        """With the instance, for objects that were lost and are made again: as strictly as for new ones."""
        instance = await self._found_instance(engine, spec)
        if isinstance(instance, InstanceInfo) and instance.is_secured:
            instance = await self._found_instance(engine, spec, is_live=True)
        if isinstance(instance, Refusal):
            return replace(met, unresolved=(instance.instance or instance.ready).message)
        preset = self._preset(engine, spec)
        if isinstance(preset, Refusal):
            return replace(met, unresolved=preset.ready.message)
        judged = gates.judge_template(spec, met.engine_class, instance, self.settings.bounds, preset)
        unresolved = judged.refused.ready.message if judged.refused else met.unresolved
        return replace(met, instance=instance, preset=preset, unresolved=unresolved)

    def _preset(self, engine: FireboltEngine, spec: EngineSpec) -> PresetInfo | Refusal | None:
        namespace = engine.metadata.namespace
        found = self.observer.preset(namespace)
        return preset_gate(namespace, found, is_required=bool(spec.require_preset))

    async def _class(self, engine: FireboltEngine, spec: EngineSpec) -> ClassInfo | Missing | Refusal | None:
        name = spec.engine_class_ref
        if not name:
            return None
        ref = Ref(FIREBOLT_ENGINE_CLASSES, engine.metadata.namespace, name)
        found = gates.class_gate(ref, await self.observer.engine_class(ref.namespace, ref.name))
        if isinstance(found, Missing):
            await self._warn(engine, EventReason.ENGINE_CLASS_MISSING, found.message)
        else:
            self.warner.settle(engine.metadata, EventReason.ENGINE_CLASS_MISSING)
        return found

    async def _instance(self, engine: FireboltEngine, spec: EngineSpec) -> InstanceInfo | Refusal:
        return await self._found_instance(engine, spec) if _is_gated(engine) else NO_INSTANCE

    async def _found_instance(
        self, engine: FireboltEngine, spec: EngineSpec, *, is_live: bool = False
    ) -> InstanceInfo | Refusal:
        ref = Ref(FIREBOLT_INSTANCES, engine.metadata.namespace, spec.instance_ref)
        if is_live:
            # The cache learns it, so that no later pass knows less.
            await fetch_live(self.instances, self.observer.reader, ref)
        instance = self.instances.known((ref.namespace, ref.name))
        found = gates.instance_gate(ref, instance)
        if instance is None or isinstance(found, Refusal):
            return found
        found = await self.auth.added(instance, found, is_live=is_live)
        if isinstance(found, Refusal):
            return found
        return await self.encryption.added(engine, instance, found, is_live=is_live)

    async def _with_template(self, engine: FireboltEngine, spec: EngineSpec, met: Met) -> Met | Blocked:
        inherited = met.engine_class if met.is_preset_fit else None
        preset, instance, bounds = met.preset, met.instance, self.settings.bounds
        verdict = self.verdicts.value(
            engine.metadata.uid,
            (spec, inherited, preset, instance.protected_secrets),
            lambda: gates.judge_template(spec, inherited, instance, bounds, preset),
        )
        if verdict.refused is not None:
            return Blocked(terms=met.terms, refusal=verdict.refused, is_instance_ready=True)
        await self._warn_dropped_volumes(engine, verdict.dropped)
        return met

    async def _warn_dropped_volumes(self, engine: FireboltEngine, dropped: Sequence[FieldError]) -> None:
        if dropped:
            note = "template volumes reaching operator-managed Secrets were dropped from the rendered pod: "
            await self._warn(engine, EventReason.SECRET_ALIAS_VOLUME_DROPPED, note + aggregate(dropped))
        elif _is_gated(engine):  # the only phases that know the instance's Secrets
            self.warner.settle(engine.metadata, EventReason.SECRET_ALIAS_VOLUME_DROPPED)

    async def _warn(self, engine: FireboltEngine, reason: EventReason, note: str) -> None:
        await self.warner.warn(engine.metadata, Warn(reason=reason, action="Reconcile", note=note))


def _is_gated(engine: FireboltEngine) -> bool:
    """The other phases finish a rollout that is rendered already, and know nothing of the instance."""
    return engine.status.phase in gates.GATED_PHASES


def _meanwhile(engine: FireboltEngine, reason: EngineReason, err: UnreadableError) -> Refusal:
    """What cannot be decoded holds up whoever would be rendered with it, and nobody else."""
    if _is_gated(engine):
        raise err
    return Refusal(Verdict(status="False", reason=reason, message=str(err)))


def _without_class(missing: Missing, terms: Terms, instance: InstanceInfo | Refusal) -> Blocked:
    """What is known of the instance is told all the same: an engine may well serve without its class."""
    return Blocked(
        terms=terms,
        refusal=instance if isinstance(instance, Refusal) else None,
        is_instance_ready=isinstance(instance, InstanceInfo),
        failure=TransientError(missing.message),
    )


def _lacking_class(missing: Missing, terms: Terms) -> Terms:
    problems = [missing.message, *([terms.to_mend.message] if terms.to_mend else [])]
    return replace(terms, to_mend=Stalled(EngineReason.ENGINE_CLASS_MISSING, "; ".join(problems)))


def _why_unresolved(found: ClassInfo | Missing | Refusal | None) -> str:
    match found:
        case Missing(message):
            return message
        case Refusal(ready):
            return ready.message
        case _:
            return ""
