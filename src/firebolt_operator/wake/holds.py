"""Who waits for which engine? Every waiter belongs to one registration and leaves that one, never "the engine's".

An engine has a new registration after each time it turned ready. A waiter that resumes late would otherwise take one
away from the next registration, whose waiters nobody could release any more.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from firebolt_operator.wake.decide.answers import FLAPPED, MISSING, STOPPED, TIMED_OUT


class Ending(Enum):
    RELEASED = auto()
    EXPIRED = auto()
    MISSING = auto()  # there is no such engine
    STOPPED = auto()  # its owner stopped it, and no query wakes it


REFUSALS: Final = {
    Ending.RELEASED: FLAPPED,
    Ending.EXPIRED: TIMED_OUT,
    Ending.MISSING: MISSING,
    Ending.STOPPED: STOPPED,
}
"""What whoever waited is told unless the engine is ready."""


@dataclass(slots=True, eq=False)
class Waiter:
    registration: "Registration"
    ended: "asyncio.Future[Ending]"

    def end(self, how: Ending) -> None:
        """The first ending counts; one that was cancelled has left already."""
        if not self.ended.done():
            self.ended.set_result(how)


@dataclass(slots=True, eq=False)
class Registration:
    engine: str
    waiters: set[Waiter] = field(default_factory=set[Waiter])


class Holds:
    """Nothing here waits, so a check and what follows from it are one step."""

    def __init__(self) -> None:
        self._registered: dict[str, Registration] = {}
        self._total = 0

    @property
    def total(self) -> int:
        """Over all engines, those that resume but have not left yet included: Envoy still has their bodies."""
        return self._total

    def count(self, engine: str) -> int:
        registration = self._registered.get(engine)
        return 0 if registration is None else len(registration.waiters)

    def by_engine(self) -> Mapping[str, int]:
        return {engine: len(registration.waiters) for engine, registration in self._registered.items()}

    def join(self, engine: str) -> Waiter:
        """Only while the engine is not ready: nobody releases a waiter of a ready one."""
        registration = self._registered.setdefault(engine, Registration(engine))
        waiter = Waiter(registration, asyncio.get_running_loop().create_future())
        registration.waiters.add(waiter)
        self._total += 1
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """Exactly once for every waiter, however its wait ended."""
        registration = waiter.registration
        registration.waiters.remove(waiter)
        self._total -= 1
        if not registration.waiters and self._registered.get(registration.engine) is registration:
            del self._registered[registration.engine]

    def release(self, engine: str) -> None:
        self.end(engine, Ending.RELEASED)

    def end(self, engine: str, how: Ending) -> None:
        """All who wait for it, at once; whoever joins from now on joins another registration."""
        registration = self._registered.pop(engine, None)
        for waiter in () if registration is None else tuple(registration.waiters):
            waiter.end(how)
