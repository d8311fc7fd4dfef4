"""FireboltEngine: the compute nodes that run queries, rolled blue-green."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine_settings import MOST_REPLICAS, AutoStop, DisruptionBudget, RolloutName, Storage
from firebolt_operator.api.model import (
    Duration,
    FreeForm,
    Instant,
    Int32,
    Int64,
    Model,
    ObjectMeta,
    PodTemplate,
    StatusModel,
    note,
    rule,
)

STORAGE_RULE = rule(
    "(has(self.persistentVolumeClaim) ? 1 : 0) + (has(self.emptyDir) ? 1 : 0) + (has(self.hostPath) ? 1 : 0) <= 1",
    "storage.persistentVolumeClaim, storage.emptyDir, and storage.hostPath are mutually exclusive",
)
AUTO_STOP_RULE = rule(
    "self.activeReplicas >= (has(self.idleReplicas) ? self.idleReplicas : 0)",
    "activeReplicas must be >= idleReplicas",
)
STORAGE_NOTE = note(
    "Where nodes keep their data. At most one backend; none means what the class says, else emptyDir.",
    default={},
    **{"x-kubernetes-validations": [STORAGE_RULE]},
)
AUTO_STOP_NOTE = note(
    "When the engine is parked and woken. Taken whole from here, else whole from the class, else off.",
    **{"x-kubernetes-validations": [AUTO_STOP_RULE]},
)
REPLICAS_NOTE = note(
    "Number of nodes; 0 stops the engine. Leave it out where auto-stop or an autoscaler decides.",
    default=1,
    maximum=MOST_REPLICAS,
)
CUSTOM_CONFIG_NOTE = note("Merged into the engine's configuration file; what the operator owns there is left out.")
UI_NOTE = note("Adds the web UI as a sidecar; off unless the engine or its class says so.")
DRAIN_ENABLED_NOTE = note(
    "Whether an old generation waits for its running queries before it is deleted;"
    " it does unless the engine or its class says no."
)
DRAIN_INTERVAL_NOTE = note(
    "How often a draining generation is looked at, 1s at the least; 5s if neither engine nor class says."
)
DRAIN_TIMEOUT_NOTE = note("Longest wait for a draining generation, counted from the switch; unset waits for ever.")
PROGRESS_DEADLINE_NOTE = note(
    "How long a new generation may take to be ready before the engine counts as stalled;"
    " 30m if neither engine nor class says, 0 for no limit."
)
DISRUPTION_BUDGET_NOTE = note(
    "How many serving pods node drains may take at a time, as a PodDisruptionBudget."
    " Taken whole from here, else whole from the class, else none."
)
ROLLOUT_NOTE = note(
    "graceful, the default, drains the old generation before it is deleted; recreate deletes it after the switch."
)


class EngineSpec(Model, frozen=True, kw_only=True):
    instance_ref: Annotated[
        str,
        Meta(min_length=1),
        note(
            "Name of the FireboltInstance in this namespace.",
            **{"x-kubernetes-validations": [rule("self == oldSelf", "instanceRef is immutable")]},
        ),
    ]
    engine_class_ref: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        note("Name of a FireboltEngineClass in this namespace, else of a ClusterFireboltEngineClass, to inherit from."),
    ] = None
    replicas: Annotated[Int32, Meta(ge=0), REPLICAS_NOTE] = 1
    template: Annotated[
        PodTemplate | None, note("Changes to the pods; wins over the templates of preset and class.")
    ] = None
    require_preset: Annotated[
        bool | None,
        note("Whether the engine waits until its namespace has a FireboltEnginePreset; it does not if unset."),
    ] = None
    ui_sidecar: Annotated[bool | None, UI_NOTE] = None
    drain_check_enabled: Annotated[bool | None, DRAIN_ENABLED_NOTE] = None
    drain_check_interval: Annotated[Duration | None, DRAIN_INTERVAL_NOTE] = None
    drain_timeout: Annotated[Duration | None, DRAIN_TIMEOUT_NOTE] = None
    progress_deadline: Annotated[Duration | None, PROGRESS_DEADLINE_NOTE] = None
    rollout: Annotated[RolloutName | None, ROLLOUT_NOTE] = None
    metadata_endpoint_override: Annotated[
        str | None, note("Used instead of the instance's metadata endpoint. Cannot be changed once set.")
    ] = None
    storage: Annotated[Storage, STORAGE_NOTE] = msgspec.field(default_factory=Storage)
    custom_engine_config: Annotated[FreeForm | None, CUSTOM_CONFIG_NOTE] = None
    auto_stop: Annotated[AutoStop | None, AUTO_STOP_NOTE] = None
    pod_disruption_budget: Annotated[DisruptionBudget | None, DISRUPTION_BUDGET_NOTE] = None


class EngineStatus(StatusModel, frozen=True, kw_only=True):
    always_shown: ClassVar[tuple[str, ...]] = ("replicas", "ready_replicas")

    observed_generation: Annotated[Int64, note("metadata.generation that this status speaks of.")] = 0
    current_generation: Annotated[int, note("Latest generation allocated.")]
    active_generation: Annotated[int, note("Generation that serves queries; -1 before the first.")]
    draining_generation: Annotated[int | None, note("Generation that is being drained.")] = None
    phase: Annotated[str, note("Where the engine is between two generations.")] = ""
    switched_at: Annotated[Instant | None, note("When queries were last switched to another generation.")] = None
    replicas: Annotated[Int32, note("Pods of the active generation.")] = 0
    ready_replicas: Annotated[Int32, note("Ready pods of the active generation.")] = 0
    selector: Annotated[str, note("Label selector of the active generation's pods, for autoscalers.")] = ""
    last_reconciled: Annotated[Instant | None, note("When this status was last written.")] = None
    last_activity_time: Annotated[Instant | None, note("When the engine was last seen busy.")] = None
    last_scaled_at: Annotated[Instant | None, note("When auto-stop last changed the number of nodes.")] = None
    auto_stop_reason: Annotated[str, note("Why auto-stop decided what it decided.")] = ""
    wake_handled_at: Annotated[Instant | None, note("Newest wake request that was acted on.")] = None
    settled_generation: Annotated[
        Int64, note("metadata.generation that what runs was last found equal to; kept with --max-rolling.")
    ] = 0
    settled_class: Annotated[str, note("The class and its metadata.generation at that time.")] = ""
    settled_preset: Annotated[str, note("The preset's metadata.generation at that time.")] = ""
    rollout_cause: Annotated[str, note("What it rolls for, or waits to, together with other engines.")] = ""
    applied_preset_name: Annotated[str, note("The preset that the serving generation was made with.")] = ""
    applied_preset_hash: Annotated[str, note("Hash of that preset's spec.")] = ""
    observed_auth_hash: Annotated[str, note("Authentication settings of the stable generation.")] = ""
    observed_engine_tls_hash: Annotated[str, note("TLS settings of the stable generation.")] = msgspec.field(
        default="", name="observedEngineTLSHash"
    )
    observed_engine_serving_cert_fp: Annotated[str, note("Fingerprint of the serving certificate.")] = msgspec.field(
        default="", name="observedEngineServingCertFP"
    )
    observed_engine_serving_cert_gen: Annotated[int, note("Generation the fingerprint was seen at.")] = 0
    conditions: Annotated[list[Condition], note("What is true of the engine, and why.")] = []


UNINITIALISED = EngineStatus(current_generation=0, active_generation=-1)
"""What an engine without a status has."""

OVERRIDE_RULE = rule(
    "!has(oldSelf.metadataEndpointOverride) || (has(self.metadataEndpointOverride)"
    " && self.metadataEndpointOverride == oldSelf.metadataEndpointOverride)",
    "spec.metadataEndpointOverride is immutable once set",
)


class FireboltEngine(Model, frozen=True, kw_only=True):
    """A Firebolt query engine: a set of nodes that serve one engine name."""

    metadata: ObjectMeta
    spec: Annotated[
        EngineSpec | None, note("What the engine should be.", **{"x-kubernetes-validations": [OVERRIDE_RULE]})
    ] = None
    status: Annotated[EngineStatus, note("What the engine is.")] = msgspec.field(default_factory=lambda: UNINITIALISED)
