"""FireboltEnginePreset: what all engines of a namespace have in common, whether they name a class or not."""

from typing import Annotated, ClassVar

import msgspec

from firebolt_operator.api import engine as notes
from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine_settings import Storage
from firebolt_operator.api.model import FreeForm, Int32, Int64, Model, ObjectMeta, PodTemplate, StatusModel, note


class EnginePresetSpec(Model, frozen=True, kw_only=True):
    template: Annotated[PodTemplate, StatusModel, note("Changes to the pods of every engine of this namespace.")]
    storage: Annotated[Storage, notes.STORAGE_NOTE] = msgspec.field(default_factory=Storage)
    custom_engine_config: Annotated[FreeForm | None, notes.CUSTOM_CONFIG_NOTE] = None


class EnginePresetStatus(StatusModel, frozen=True, kw_only=True):
    always_shown: ClassVar[tuple[str, ...]] = ("bound_engines",)

    observed_generation: Annotated[Int64, note("metadata.generation that this status speaks of.")] = 0
    bound_engines: Annotated[Int32, note("Engines of this namespace.")] = 0
    conditions: Annotated[list[Condition], note("What is true of the preset, and why.")] = []


class FireboltEnginePreset(Model, frozen=True, kw_only=True):
    """What every engine of the same namespace inherits, over its class and under its own spec; named `firebolt`."""

    metadata: ObjectMeta
    spec: Annotated[EnginePresetSpec | None, note("What engines of this namespace inherit.")] = None
    status: Annotated[EnginePresetStatus, note("What is known of the preset.")] = msgspec.field(
        default_factory=EnginePresetStatus
    )
