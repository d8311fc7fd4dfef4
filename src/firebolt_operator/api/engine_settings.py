"""The settings that an engine may set itself or inherit from its class."""

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from firebolt_operator.api.model import Duration, Int32, IntOrString, Model, Quantity, note
from firebolt_operator.api.texts import MOST_CHARACTERS

Weekday = Literal["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
ClockTime = Annotated[str, Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
RolloutName = Literal["graceful", "recreate"]
MOST_REPLICAS: Final = 1000
"""Every node is named in every node's configuration. Only the definition says so: an object from before it must still
be readable, so that its owner can be told.
"""


class PersistentVolumeClaimStorage(Model, frozen=True, kw_only=True):
    size: Annotated[Quantity, note("Size of each node's claim.", default="1Gi")] = "1Gi"
    access_modes: Annotated[list[str], note("Access modes of the claim.", default=["ReadWriteOnce"])] = msgspec.field(
        default_factory=lambda: ["ReadWriteOnce"]
    )
    storage_class_name: Annotated[
        str | None,
        note("StorageClass of the claim; unset means the cluster's default, empty turns dynamic provisioning off."),
    ] = None


class EmptyDirStorage(Model, frozen=True, kw_only=True):
    medium: Annotated[Literal["", "Memory"], note("Empty for the node's disk, Memory for a RAM disk.")] = ""
    size_limit: Annotated[Quantity | None, note("Upper bound of the volume.")] = None


class HostPathStorage(Model, frozen=True, kw_only=True):
    path: Annotated[str, Meta(pattern=r"^/.*"), note("Absolute path on the node.")]
    type: Annotated[str, note("What must be at the path; as in a hostPath volume.")] = ""


class Storage(Model, frozen=True, kw_only=True):
    """Where a node keeps its data; at most one of the three."""

    persistent_volume_claim: Annotated[
        PersistentVolumeClaimStorage | None, note("A claim per node, deleted with its generation.")
    ] = None
    empty_dir: Annotated[EmptyDirStorage | None, note("A volume that lives as long as the pod. The default.")] = None
    host_path: Annotated[HostPathStorage | None, note("A folder of the node.")] = None

    @property
    def names_a_backend(self) -> bool:
        return (self.persistent_volume_claim or self.empty_dir or self.host_path) is not None


class DisruptionBudget(Model, frozen=True, kw_only=True):
    """How much of an engine node drains may take at a time."""

    max_unavailable: Annotated[
        IntOrString | None,
        note("A number of pods of the generation that serves, or a share such as 25%; unset means no budget."),
    ] = None


class ScheduleWindow(Model, frozen=True, kw_only=True):
    """A time of day during which the engine is kept at activeReplicas."""

    start: Annotated[ClockTime, note("Start, HH:MM. An end before the start crosses midnight; equal means never.")]
    end: Annotated[ClockTime, note("End, HH:MM, not included.")]
    days: Annotated[
        list[Annotated[Weekday, Meta(extra_json_schema={"enum": list(get_args(Weekday))})]],
        note("Days on which the window starts; empty means every day."),
    ] = []


class AutoStop(Model, frozen=True, kw_only=True):
    """Parks the engine when it is idle and wakes it on the next query."""

    enabled: Annotated[bool, note("Turns auto-stop on.", default=False, required=True)] = False
    active_replicas: Annotated[
        Int32, Meta(ge=1), note("Nodes of the engine while it is in use.", maximum=MOST_REPLICAS)
    ]
    idle_replicas: Annotated[
        Int32, Meta(ge=0), note("Nodes of the engine while it is idle.", default=0, maximum=MOST_REPLICAS)
    ] = 0
    idle_timeout: Annotated[
        Duration, note("How long without a query until the engine counts as idle.", default="30m")
    ] = "30m"
    poll_interval: Annotated[Duration, note("How often activity is looked at, 1s at the least.", default="1m")] = "1m"
    time_zone: Annotated[
        str,
        note(
            "IANA name of the time zone that schedule windows and days are read in.",
            default="UTC",
            maxLength=MOST_CHARACTERS,
        ),
    ] = "UTC"
    schedule: Annotated[list[ScheduleWindow], note("Windows in which the engine is never parked.")] = []
