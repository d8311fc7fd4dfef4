"""What is wrong with an engine? The same functions answer for admission and for the controller's gates."""

from collections.abc import Collection
from functools import partial
from typing import Final

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.policy.bounds import ResourceBounds, check_auto_stop_replicas, check_bounds, check_replicas
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.config_size import check_config_size
from firebolt_operator.policy.disruption_budgets import check_disruption_budget
from firebolt_operator.policy.durations import ENGINE_FLOORS, check_durations
from firebolt_operator.policy.field_errors import FieldError, Path, internal_error, invalid, not_found
from firebolt_operator.policy.inherited import CLASS_REFERENCE, FoundClass, Inherited, InheritedTemplate
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.policy.protected_secrets import IsProtected, is_protected, protected_secret_names
from firebolt_operator.policy.secret_aliases import check_environment_secrets, check_volume_secrets
from firebolt_operator.policy.template_size import check_size, manageable

SPEC: Final = Path("spec")
TEMPLATE: Final = SPEC.child("template")
CONFIG: Final = SPEC.child("customEngineConfig")

ClassLookup = FoundClass | FieldError | None
"""The class an engine names, or why it could not be had; None when it names none."""


def class_not_found(name: str) -> FieldError:
    return not_found(CLASS_REFERENCE, name)


def class_unreadable(problem: str) -> FieldError:
    """Fails closed: an engine must not slip in while its class cannot be looked up."""
    return internal_error(CLASS_REFERENCE, problem)


def check_engine_admission(
    spec: EngineSpec,
    lookup: ClassLookup,
    instance: FireboltInstance | None,
    bounds: ResourceBounds,
    preset: InheritedTemplate | None = None,
) -> list[FieldError]:
    """All that admission refuses, at once, and nothing less than what the controller would refuse to render.

    Without an instance only the shape of a name tells whose Secret it is: the instance may well be applied later.
    """
    found = lookup.template if isinstance(lookup, FoundClass) else None
    inherited = [each for each in (preset, found) if each is not None]
    protected = protected_secret_names(instance) if instance else frozenset[str]()
    guarded = partial(is_protected, protected=protected)
    template = manageable(spec.template)
    return [
        *([lookup] if isinstance(lookup, FieldError) else []),
        *check_size(spec.template, TEMPLATE),
        *check_owned_fields(template, TEMPLATE, ENGINE),
        *check_volume_secrets(template, TEMPLATE, ENGINE.component, guarded),
        *check_environment_secrets(template, TEMPLATE, ENGINE.component, guarded),
        *_inherited_environment_errors(inherited, guarded),
        *_config_errors(spec, inherited),
        *check_bounds(spec.template, inherited, bounds),
        *check_settings(spec, bounds),
    ]


def check_new_binding(lookup: ClassLookup, *, is_bound_already: bool) -> list[FieldError]:
    """A class that is about to go takes no new engines; those that it has may be edited, or led off it."""
    if is_bound_already or not isinstance(lookup, FoundClass) or not lookup.is_deleting:
        return []
    return [invalid(CLASS_REFERENCE, lookup.name, "is being deleted; name another class")]


def check_settings(spec: EngineSpec, bounds: ResourceBounds) -> list[FieldError]:
    """The engine's own; what it takes from its class is told to the class."""
    policy = spec.auto_stop
    return [
        *check_durations(spec, SPEC, ENGINE_FLOORS),
        *check_replicas(spec.replicas, SPEC.child("replicas"), bounds),
        *(check_auto_stop_replicas(policy, SPEC.child("autoStop"), bounds) if policy else ()),
        *check_disruption_budget(spec.pod_disruption_budget, SPEC),
    ]


def _config_errors(spec: EngineSpec, inherited: Inherited) -> list[FieldError]:
    under = {each.word: each.config for each in reversed(inherited) if each.config}
    return check_config_size(spec.custom_engine_config, under, CONFIG)


def _inherited_environment_errors(inherited: Inherited, guarded: IsProtected) -> list[FieldError]:
    return [
        error
        for each in inherited
        for error in check_environment_secrets(manageable(each.template), each.path, ENGINE.component, guarded)
    ]


def check_engine_template(spec: EngineSpec, inherited: Inherited, protected: Collection[str]) -> list[FieldError]:
    """What keeps the controller from rendering. The fields of what is inherited are judged there; what its containers
    read into their environment is judged here: only an engine knows the instance whose Secrets are at stake.
    """
    guarded = partial(is_protected, protected=protected)
    template = manageable(spec.template)
    return [
        *check_size(spec.template, TEMPLATE),
        *check_owned_fields(template, TEMPLATE, ENGINE),
        *check_environment_secrets(template, TEMPLATE, ENGINE.component, guarded),
        *_inherited_environment_errors(inherited, guarded),
        *_config_errors(spec, inherited),
    ]


def dropped_volumes(spec: EngineSpec, inherited: Inherited, protected: Collection[str]) -> list[FieldError]:
    """Volumes that rendering leaves out, for the event that says so.

    They never block: the kubelet refreshes mounted Secrets for as long as a pod lives, so the remedy is a generation
    without the volume, and refusing to render would keep the exposed pods running.
    """
    guarded = partial(is_protected, protected=protected)
    layers = [(TEMPLATE, spec.template), *((each.path, each.template) for each in inherited)]
    return [
        error
        for path, template in layers
        for error in check_volume_secrets(manageable(template), path, ENGINE.component, guarded)
    ]
