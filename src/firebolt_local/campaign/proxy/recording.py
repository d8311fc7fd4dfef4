"""What passed since somebody began to look, what was done to it, and what is to be done to what comes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from firebolt_local.campaign.faults.fault import Fault
from firebolt_local.campaign.faults.requests import BY_THE_CLOCK, UNSAID, Naming, RequestKind, RequestName


@dataclass(frozen=True, slots=True)
class Passed:
    """One request or event that came by."""

    name: RequestName
    client: int  # which process sent it, by the order in which they were started
    path: str
    at: float  # seconds, of the event loop's clock


Choice = Callable[[RequestName], Fault | None]
"""What is to become of a request or an event."""
Strike = Callable[[Fault], None]


def nobody_struck(_: Fault) -> None: ...


def nothing(_: RequestName) -> Fault | None:
    return None


def once(fault: Fault) -> Choice:
    left = [fault]
    return lambda name: left.pop() if left and name == left[0].target else None


@dataclass(slots=True)
class Watchman:
    """Names what passes, and says what is to become of it."""

    choice: Choice = nothing
    client: int = 0  # whose requests they are
    strike: Strike = nobody_struck  # told at the moment at which a process is to be struck
    passed: list[Passed] = field(default_factory=list[Passed])
    struck: asyncio.Event = field(default_factory=asyncio.Event)
    is_going_on: asyncio.Event = field(default_factory=asyncio.Event)  # set once what was stopped may go on
    strikes: int = 0
    under_way: int = 0  # requests that are not answered yet, watches aside
    watches: int = 0  # that are open
    held: int = 0  # events that the server has told and that are not delivered yet
    stale_until: float = 0.0
    has_landed: bool = False  # what was on its way when its process was stopped has reached the server after all
    is_decided: asyncio.Event = field(default_factory=asyncio.Event)  # set once that has landed, or was dropped
    last_writer: int = 0  # whose write came by last: with several processes, the one that leads
    _naming: Naming = field(default_factory=Naming)

    def arm(self, fault: Fault | None, client: int = 0, strike: Strike = nobody_struck) -> None:
        """Forget what passed, and count from here."""
        self.arm_with(once(fault) if fault else nothing, client, strike)

    def arm_with(self, choice: Choice, client: int = 0, strike: Strike = nobody_struck) -> None:
        self.choice, self.client, self.strike, self.strikes = choice, client, strike, 0
        self.passed, self._naming, self.has_landed = [], Naming(), False
        self.struck, self.is_going_on, self.is_decided = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def meet(self, kind: RequestKind, client: int, path: str) -> Fault | None:
        """What is to become of this one."""
        if kind.is_mutating and kind.kind not in BY_THE_CLOCK:
            self.last_writer = client
        if client != self.client:
            return None
        name = self._naming.next(kind)
        self.passed.append(Passed(name, client, path, asyncio.get_running_loop().time()))
        fault = self.choice(name)
        if fault is not None:
            self.strikes += 1
            self.struck.set()
        return fault

    @property
    def is_idle(self) -> bool:
        """Somebody looks, knows all there is to know, and asks for nothing."""
        return self.watches > 0 and not self.under_way and not self.held

    @property
    def writes(self) -> list[RequestName]:
        return [each.name for each in self.passed if each.name.of.is_mutating]

    def written_since(self, moment: float) -> list[RequestName]:
        """What changes objects."""
        passed = (each.name for each in self.passed if each.at >= moment and each.name.of.is_mutating)
        return [name for name in passed if name.of.kind not in UNSAID]
