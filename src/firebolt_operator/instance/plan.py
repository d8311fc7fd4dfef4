"""What a pass decided to do: writes in an order that survives a crash after any of them, then one status."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.look_again import After, AtOnce, LookAgain
from firebolt_operator.manifests.live_objects import LiveObject
from firebolt_operator.refs import Manifest, Warn

AT_ONCE = AtOnce()
POLL = After(timedelta(seconds=5))  # while the metadata service starts
REST = After(timedelta(seconds=30))
FAILED_REST = After(timedelta(minutes=5))


class Stage(Enum):
    """How far a pass came: what lies behind it was evaluated, what lies ahead keeps its last word."""

    CHECKS = "checks"
    GUARD = "guard"
    METADATA_SERVICE = "metadata service"
    GATEWAY = "gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why the pass fails, once its status is written."""

    stage: Stage
    condition: str
    reason: str
    message: str
    clears_metadata_service: bool = False
    clears_gateway: bool = False
    needs_person: bool = False  # trying again does not help

    def __str__(self) -> str:
        return f"{self.condition} ({self.reason}): {self.message}"


@dataclass(frozen=True, slots=True)
class Create:
    """Once, and never over an object that exists."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Amend:
    """Changes a few fields of an object that is never applied."""

    manifest: Manifest  # names the object
    patch: Manifest


@dataclass(frozen=True, slots=True)
class Apply:
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Remake:
    """Deletes an object that cannot be changed into the wanted one, then applies it."""

    live: LiveObject
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Refuse:
    """Somebody else's object has that name: it is neither changed nor deleted, and nothing that follows is made."""

    manifest: Manifest
    problem: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Whose the object of that name is could not be told, so it is left alone as well."""

    manifest: Manifest
    problem: str


Write = Create | Amend | Apply | Remake | Refuse | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One write, and what its failure means."""

    doing: str  # for people, such as "ensuring postgres secret"
    stage: Stage
    reason: str
    write: Write


@dataclass(frozen=True, slots=True, kw_only=True)
class InstancePlan:
    reason: str  # for people: what this pass does, and why
    status: InstanceStatus
    look_again: LookAgain
    patch: Manifest | None = None  # of the instance itself; the version it was decided on is added to it
    steps: tuple[Step, ...] = ()
    problem: Problem | None = None
    warnings: tuple[Warn, ...] = ()
    is_settled: bool = False  # nothing in it is due at a certain time
