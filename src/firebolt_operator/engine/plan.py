"""What a pass decided to do: writes in an order that survives a crash after any of them, then one status."""

from dataclasses import dataclass
from datetime import timedelta

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.views import Child
from firebolt_operator.look_again import After, AtOnce, LookAgain
from firebolt_operator.refs import Manifest, News, Resource, Warn

AT_ONCE = AtOnce()
URGENTLY = AtOnce(is_urgent=True)
PODS_WAIT = After(timedelta(seconds=5))


@dataclass(frozen=True, slots=True)
class Delete:
    """An object that was seen; it is deleted only while it is still that very object."""

    resource: Resource
    child: Child


@dataclass(frozen=True, slots=True)
class Patch:
    """A change of an object that was seen, as a JSON merge patch; refused if it is another one by then."""

    resource: Resource
    child: Child
    change: Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    reason: str  # for people: what this pass does, and why
    status: EngineStatus
    look_again: LookAgain
    ensures: tuple[Manifest, ...] = ()
    patches: tuple[Patch, ...] = ()
    deletes: tuple[Delete, ...] = ()
    warnings: tuple[Warn, ...] = ()
    news: tuple[News, ...] = ()  # true once the status is stored
    waiting_for: str = ""  # for people, in the Rolling message
    queued: str = ""  # for people: what it waits for before it rolls
    is_at_rest: bool = False  # what runs was compared with what is asked for, and is the same

    @property
    def is_resting(self) -> bool:
        """Not for the first time, either: there is nothing left to look at."""
        return self.is_at_rest and not isinstance(self.look_again, AtOnce)
