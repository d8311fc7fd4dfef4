"""FireboltEngineClass: defaults that engines of one namespace share."""

from typing import Annotated, ClassVar

import msgspec

from firebolt_operator.api import engine as notes
from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine_settings import AutoStop, DisruptionBudget, RolloutName, Storage
from firebolt_operator.api.model import (
    Duration,
    FreeForm,
    Int32,
    Int64,
    Model,
    ObjectMeta,
    PodTemplate,
    StatusModel,
    note,
)


class EngineClassSpec(Model, frozen=True, kw_only=True):
    template: Annotated[PodTemplate, StatusModel, note("Changes to the pods of every engine of this class.")]
    ui_sidecar: Annotated[bool | None, notes.UI_NOTE] = None
    storage: Annotated[Storage, notes.STORAGE_NOTE] = msgspec.field(default_factory=Storage)
    custom_engine_config: Annotated[FreeForm | None, notes.CUSTOM_CONFIG_NOTE] = None
    rollout: Annotated[RolloutName | None, notes.ROLLOUT_NOTE] = None
    drain_check_enabled: Annotated[bool | None, notes.DRAIN_ENABLED_NOTE] = None
    drain_check_interval: Annotated[Duration | None, notes.DRAIN_INTERVAL_NOTE] = None
    drain_timeout: Annotated[Duration | None, notes.DRAIN_TIMEOUT_NOTE] = None
    progress_deadline: Annotated[Duration | None, notes.PROGRESS_DEADLINE_NOTE] = None
    auto_stop: Annotated[AutoStop | None, notes.AUTO_STOP_NOTE] = None
    pod_disruption_budget: Annotated[DisruptionBudget | None, notes.DISRUPTION_BUDGET_NOTE] = None


class EngineClassStatus(StatusModel, frozen=True, kw_only=True):
    always_shown: ClassVar[tuple[str, ...]] = ("bound_engines",)

    observed_generation: Annotated[Int64, note("metadata.generation that this status speaks of.")] = 0
    bound_engines: Annotated[Int32, note("Engines of this namespace that name this class.")] = 0
    conditions: Annotated[list[Condition], note("What is true of the class, and why.")] = []


class FireboltEngineClass(Model, frozen=True, kw_only=True):
    """Defaults that engines of the same namespace inherit by naming this class."""

    metadata: ObjectMeta
    spec: Annotated[EngineClassSpec | None, note("What engines of this class inherit.")] = None
    status: Annotated[EngineClassStatus, note("What is known of the class.")] = msgspec.field(
        default_factory=EngineClassStatus
    )
