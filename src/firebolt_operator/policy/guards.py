"""What must not go while engines depend on it? One guard per kind; webhooks and controllers ask the same."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
)
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.refs import Ref, Resource

NAME: Final = Path("metadata").child("name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    resource: Resource
    finalizer: str
    binds: Callable[[Ref, FireboltEngine], bool]  # whether that engine depends on that object
    blocked: Callable[[Ref, int], str]  # why it cannot go while so many engines depend on it
    yields_to: Resource | None = None  # a namespaced kind that engines take instead, where it has the same name

    def bound(self, guarded: Ref, engines: Iterable[FireboltEngine]) -> list[FireboltEngine]:
        """Those that are being deleted count until they are gone."""
        return [engine for engine in engines if self.binds(guarded, engine)]


def check_deletion(guard: Guard, guarded: Ref, bound_engines: int) -> list[FieldError]:
    return [forbidden(NAME, guard.blocked(guarded, bound_engines))] if bound_engines else []


def check_is_guarded(guarded: Ref, *, is_guarded: bool) -> list[FieldError]:
    """Without its finalizer it would be gone at once, and an engine that is just being made without it."""
    if is_guarded:
        return []
    detail = f"{_place(guarded)} was made a moment ago and the operator does not guard it yet; try again"
    return [forbidden(NAME, detail)]


def _place(guarded: Ref) -> str:
    where = f' in namespace "{guarded.namespace}"' if guarded.namespace else ""
    return f'{guarded.resource.kind} "{guarded.name}"{where}'


def _names_it(guarded: Ref, engine: FireboltEngine) -> bool:
    is_near = guarded.namespace in ("", engine.metadata.namespace)
    return is_near and engine.spec is not None and engine.spec.engine_class_ref == guarded.name


def _class_blocked(guarded: Ref, bound_engines: int) -> str:
    return (
        f"{_place(guarded)} is referenced by {bound_engines} FireboltEngine(s); clear spec.engineClassRef on those"
        " engines before deleting the class"
    )


def _lives_beside_it(guarded: Ref, engine: FireboltEngine) -> bool:
    return guarded.name == names.PRESET_NAME and engine.metadata.namespace == guarded.namespace


def _preset_blocked(guarded: Ref, bound_engines: int) -> str:
    return (
        f'{bound_engines} FireboltEngine(s) in namespace "{guarded.namespace}" consume FireboltEnginePreset'
        f' "{guarded.name}" as their ambient overlay; delete those engines before deleting the Preset object'
    )


CLASS_GUARD: Final = Guard(
    resource=FIREBOLT_ENGINE_CLASSES,
    finalizer=names.FINALIZER_ENGINE_CLASS,
    binds=_names_it,
    blocked=_class_blocked,
)
PRESET_GUARD: Final = Guard(
    resource=FIREBOLT_ENGINE_PRESETS,
    finalizer=names.FINALIZER_ENGINE_PRESET,
    binds=_lives_beside_it,
    blocked=_preset_blocked,
)
CLUSTER_CLASS_GUARD: Final = Guard(
    resource=CLUSTER_FIREBOLT_ENGINE_CLASSES,
    finalizer=names.FINALIZER_CLUSTER_ENGINE_CLASS,
    binds=_names_it,
    blocked=_class_blocked,
    yields_to=FIREBOLT_ENGINE_CLASSES,
)
