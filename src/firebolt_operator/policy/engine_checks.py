"""What is wrong with an engine? The same functions answer for admission and for the controller's gates."""

from collections.abc import Collection
from functools import partial
from typing import Final

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.policy.bounds import ResourceBounds, check_bounds
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.field_errors import FieldError, Path, internal_error, not_found
from firebolt_operator.policy.inherited import ClassTemplate
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.policy.protected_secrets import instance_secret_names, is_protected
from firebolt_operator.policy.secret_aliases import check_environment_secrets, check_volume_secrets

TEMPLATE: Final = Path("spec").child("template")
CLASS_REFERENCE: Final = Path("spec").child("engineClassRef")
CLASS_TEMPLATE: Final = CLASS_REFERENCE.child("template")

ClassLookup = ClassTemplate | FieldError | None
"""The class an engine names, or why it could not be had; None when it names none."""


def class_not_found(name: str) -> FieldError:
    return not_found(CLASS_REFERENCE, name)


def class_unreadable(problem: str) -> FieldError:
    """Fails closed: an engine must not slip in while its class cannot be looked up."""
    return internal_error(CLASS_REFERENCE, problem)


def check_engine_admission(
    spec: EngineSpec, lookup: ClassLookup, instance: FireboltInstance | None, bounds: ResourceBounds
) -> list[FieldError]:
    """All that admission refuses, at once. Without an instance no Secret is known: it may well be applied later."""
    inherited = lookup if isinstance(lookup, ClassTemplate) else None
    named = frozenset(instance_secret_names(instance) if instance else ())
    return [
        *([lookup] if isinstance(lookup, FieldError) else []),
        *check_owned_fields(spec.template, TEMPLATE, ENGINE),
        *check_volume_secrets(spec.template, TEMPLATE, ENGINE.component, named.__contains__),
        *check_environment_secrets(spec.template, TEMPLATE, ENGINE.component, named.__contains__),
        *check_bounds(spec.template, inherited, bounds),
    ]


def check_engine_template(
    spec: EngineSpec, inherited: ClassTemplate | None, protected: Collection[str]
) -> list[FieldError]:
    """What keeps the controller from rendering. The class's own fields are judged on the class; what its containers
    read into their environment is judged here, because only an engine knows the instance whose Secrets are at stake.
    """
    guarded = partial(is_protected, protected=protected)
    class_template = inherited.template if inherited else None
    return [
        *check_owned_fields(spec.template, TEMPLATE, ENGINE),
        *check_environment_secrets(spec.template, TEMPLATE, ENGINE.component, guarded),
        *check_environment_secrets(class_template, CLASS_TEMPLATE, ENGINE.component, guarded),
    ]


def dropped_volumes(spec: EngineSpec, inherited: ClassTemplate | None, protected: Collection[str]) -> list[FieldError]:
    """Volumes that rendering leaves out, for the event that says so.

    They never block: the kubelet refreshes mounted Secrets for as long as a pod lives, so the remedy is a generation
    without the volume, and refusing to render would keep the exposed pods running.
    """
    guarded = partial(is_protected, protected=protected)
    class_template = inherited.template if inherited else None
    return [
        *check_volume_secrets(spec.template, TEMPLATE, ENGINE.component, guarded),
        *check_volume_secrets(class_template, CLASS_TEMPLATE, ENGINE.component, guarded),
    ]
