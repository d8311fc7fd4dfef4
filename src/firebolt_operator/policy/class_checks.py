"""What is wrong with a class, and may it be deleted?"""

from collections.abc import Iterable
from typing import Final

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.policy.bounds import ResourceBounds, check_auto_stop_replicas
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.disruption_budgets import check_disruption_budget
from firebolt_operator.policy.durations import ENGINE_FLOORS, check_durations
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.policy.template_size import check_size
from firebolt_operator.refs import Ref

SPEC: Final = Path("spec")
TEMPLATE: Final = SPEC.child("template")
NAME: Final = Path("metadata").child("name")


def check_class_template(spec: EngineClassSpec | None) -> list[FieldError]:
    """Owned fields only: a class knows no instance, so neither Secrets nor bounds can be judged here."""
    if spec is None:
        return []
    return check_size(spec.template, TEMPLATE) or check_owned_fields(spec.template, TEMPLATE, ENGINE)


def check_class_admission(spec: EngineClassSpec | None, bounds: ResourceBounds) -> list[FieldError]:
    """All that admission refuses, at once: whatever would have the class stalled."""
    if spec is None:
        return []
    policy = spec.auto_stop
    return [
        *check_class_template(spec),
        *check_durations(spec, SPEC, ENGINE_FLOORS),
        *(check_auto_stop_replicas(policy, SPEC.child("autoStop"), bounds) if policy else ()),
        *check_disruption_budget(spec.pod_disruption_budget, SPEC),
    ]


def check_class_guard(engine_class: Ref, *, is_guarded: bool) -> list[FieldError]:
    """Without its finalizer a class would be gone at once, and an engine that is just being made without its class."""
    if is_guarded:
        return []
    detail = (
        f'FireboltEngineClass "{engine_class.name}" in namespace "{engine_class.namespace}" was made a moment ago and'
        " the operator does not guard it yet; try again"
    )
    return [forbidden(NAME, detail)]


def count_bound_engines(engine_class: Ref, engines: Iterable[FireboltEngine]) -> int:
    """Engines of the class's own namespace that name it; the ones being deleted count until they are gone."""
    return sum(
        engine.metadata.namespace == engine_class.namespace
        and engine.spec is not None
        and engine.spec.engine_class_ref == engine_class.name
        for engine in engines
    )


def check_class_deletion(engine_class: Ref, bound_engines: int) -> list[FieldError]:
    return [forbidden(NAME, deletion_blocked_message(engine_class, bound_engines))] if bound_engines else []


def deletion_blocked_message(engine_class: Ref, bound_engines: int) -> str:
    return (
        f'FireboltEngineClass "{engine_class.name}" in namespace "{engine_class.namespace}" is referenced by'
        f" {bound_engines} FireboltEngine(s); clear spec.engineClassRef on those engines before deleting the class"
    )
