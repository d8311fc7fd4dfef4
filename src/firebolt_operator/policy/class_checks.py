"""What is wrong with a class, and may it be deleted?"""

from collections.abc import Iterable
from typing import Final

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.refs import Ref

TEMPLATE: Final = Path("spec").child("template")
NAME: Final = Path("metadata").child("name")


def check_class_template(spec: EngineClassSpec | None) -> list[FieldError]:
    """Owned fields only: a class knows no instance, so neither Secrets nor bounds can be judged here."""
    return check_owned_fields(spec.template, TEMPLATE, ENGINE) if spec else []


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
