"""May this engine be rendered at all? Class, instance, template and bounds, in this order; the first "no" ends it."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import EngineClassReason, EnginePhase, EngineReason, InstancePhase
from firebolt_operator.api.resources import CLUSTER_FIREBOLT_ENGINE_CLASSES
from firebolt_operator.engine.decide.conditions import instance_not_ready
from firebolt_operator.engine.inputs import ClassInfo, InstanceInfo, PresetInfo
from firebolt_operator.policy.bounds import ResourceBounds, check_bounds
from firebolt_operator.policy.class_checks import check_class_template
from firebolt_operator.policy.cluster_class_checks import check_cluster_class
from firebolt_operator.policy.engine_checks import check_engine_template, dropped_volumes
from firebolt_operator.policy.field_errors import FieldError, aggregate
from firebolt_operator.policy.inherited import AnyClass, Inherited, class_template, missing_class, preset_template
from firebolt_operator.policy.protected_secrets import protected_secret_names
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Ref

GATED_PHASES = frozenset({EnginePhase.CREATING, EnginePhase.STABLE, EnginePhase.STOPPED})
"""Finishing a rollout that is already rendered must not depend on an instance that it does not consume."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Nothing is rendered; `ready` says why. `instance` is the InstanceReady verdict when the instance is to blame."""

    ready: Verdict
    instance: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """The class does not exist."""

    message: str


def class_gate(reference: Ref, engine_class: AnyClass | None) -> ClassInfo | Missing | Refusal:
    if engine_class is None:
        looked_for = missing_class(reference.namespace, reference.name)
        return Missing(
            "FireboltEngineClass referenced by spec.engineClassRef not found:"
            f' spec.engineClassRef "{reference.name}": {looked_for}'
        )
    problem = _class_problem(engine_class)
    if problem:
        place = _place(reference, engine_class)
        text = f"FireboltEngineClass referenced by spec.engineClassRef is not Ready: {place}: {problem}"
        return Refusal(Verdict(status="False", reason=EngineReason.CLASS_UNREADY, message=text))
    return class_info(reference.name, engine_class)


def class_info(name: str, engine_class: AnyClass) -> ClassInfo:
    """Of the whole cluster's, its template is all there is to inherit."""
    generation = engine_class.metadata.generation
    if isinstance(engine_class, FireboltEngineClass):
        return ClassInfo(name=name, spec=engine_class.spec or EngineClassSpec(template={}), generation=generation)
    spec = EngineClassSpec(template=engine_class.spec.template if engine_class.spec else {})
    return ClassInfo(name=name, spec=spec, generation=generation, kind=CLUSTER_FIREBOLT_ENGINE_CLASSES.kind)


def _place(reference: Ref, engine_class: AnyClass) -> str:
    if isinstance(engine_class, FireboltEngineClass):
        return f'"{reference.name}" in namespace "{reference.namespace}"'
    return f'{CLUSTER_FIREBOLT_ENGINE_CLASSES.kind} "{reference.name}"'


def _class_problem(engine_class: AnyClass) -> str:
    """Only a bad template blocks: engines of a class that waits for its deletion must still be led off it."""
    if not isinstance(engine_class, FireboltEngineClass):
        return aggregate(check_cluster_class(engine_class.spec))  # it has no status, and nobody else judges it
    ready = find_condition(engine_class.status.conditions, names.CONDITION_READY)
    if ready is None or ready.observed_generation != engine_class.metadata.generation:
        # Nobody has judged what the class says now, and an engine may come by first.
        return aggregate(check_class_template(engine_class.spec))
    is_bad = not ready.is_true and ready.reason == EngineClassReason.OPERATOR_OWNED_FIELD_SET
    return ready.message if is_bad else ""


def instance_gate(reference: Ref, instance: FireboltInstance | None) -> InstanceInfo | Refusal:
    if instance is None:
        return instance_blocks(f'FireboltInstance "{reference.name}" not found in namespace {reference.namespace}')
    for fails, problem in _INSTANCE_CHECKS:
        if fails(instance):
            return instance_blocks(f'FireboltInstance "{reference.name}" {problem}')
    return InstanceInfo(
        id=instance.spec.id,
        metadata_endpoint=instance.status.metadata_endpoint,
        protected_secrets=protected_secret_names(instance),
    )


def instance_blocks(message: str) -> Refusal:
    ready = instance_not_ready("Referenced FireboltInstance is not ready")
    return Refusal(ready=ready, instance=instance_not_ready(message))


def _lacks_auth(instance: FireboltInstance) -> bool:
    """Fails closed: an engine that should ask for tokens is not started without them."""
    if not instance.spec.asks_for_auth:
        return False
    ready = find_condition(instance.status.conditions, names.CONDITION_AUTH_READY)
    return ready is None or not ready.is_true or not (instance.status.auth and instance.status.auth.signing_keys)


def _lacks_engine_tls(instance: FireboltInstance) -> bool:
    tls = instance.spec.tls.engine if instance.spec.tls else None
    return tls is not None and tls.enabled and instance.status.engine_tls is None


_INSTANCE_CHECKS: tuple[tuple[Callable[[FireboltInstance], bool], str], ...] = (
    (
        lambda instance: instance.status.phase in {InstancePhase.UNSET, InstancePhase.PROVISIONING},
        "is still provisioning",
    ),
    (lambda instance: not instance.status.metadata_endpoint, "has no metadata endpoint yet"),
    (lambda instance: not instance.spec.id, "has no instance ID yet"),
    (_lacks_auth, "has auth enabled but it is not ready yet"),
    (_lacks_engine_tls, "has engine TLS enabled but it is not provisioned yet"),
)


@dataclass(frozen=True, slots=True)
class TemplateVerdict:
    refused: Refusal | None
    dropped: tuple[FieldError, ...]  # volumes that rendering leaves out


def judge_template(
    spec: EngineSpec,
    engine_class: ClassInfo | None,
    instance: InstanceInfo,
    bounds: ResourceBounds,
    preset: PresetInfo | None = None,
) -> TemplateVerdict:
    inherited = inherited_templates(engine_class, preset)
    return TemplateVerdict(
        refused=_refusal(spec, inherited, instance, bounds),
        dropped=tuple(dropped_volumes(spec, inherited, instance.protected_secrets)),
    )


def _refusal(spec: EngineSpec, inherited: Inherited, instance: InstanceInfo, bounds: ResourceBounds) -> Refusal | None:
    rejected = check_engine_template(spec, inherited, instance.protected_secrets)
    if rejected:
        return _template_blocks(EngineReason.TEMPLATE_REJECTED, aggregate(rejected))
    exceeded = check_bounds(spec.template, inherited, bounds)
    if exceeded:
        return _template_blocks(EngineReason.RESOURCE_BOUNDS_EXCEEDED, aggregate(exceeded))
    return None


def inherited_templates(engine_class: ClassInfo | None, preset: PresetInfo | None) -> Inherited:
    """The highest first."""
    over = [preset_template(preset.name, preset.spec.template, preset.spec.custom_engine_config)] if preset else []
    if engine_class is None:
        return over
    spec = engine_class.spec
    return [*over, class_template(engine_class.name, spec.template, spec.custom_engine_config, kind=engine_class.kind)]


def _template_blocks(reason: str, message: str) -> Refusal:
    return Refusal(Verdict(status="False", reason=reason, message=message))
