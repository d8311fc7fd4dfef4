"""What is known about one list and watch of an informer, and what has to be asked next?"""

import asyncio
from dataclasses import astuple, dataclass, field
from enum import Enum, auto

from firebolt_operator.kube.ports import Scope
from firebolt_operator.runtime.backoff import Backoff
from firebolt_operator.runtime.interruption import Interruption


class Step(Enum):
    LIST = auto()
    ASK = auto()  # for one object only: the answer tells the server's version
    WATCH = auto()


@dataclass(slots=True)
class Counts:
    """What happened so far, for metrics."""

    lists: int = 0
    asks: int = 0
    watches: int = 0
    events: int = 0
    failures: int = 0  # requests that were not answered, or broke off
    refusals: int = 0  # watches that were not allowed
    short_watches: int = 0  # that ended at once, and empty: refused in other words

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


@dataclass(slots=True)
class FollowedPart:
    """A namespace, or all of them. Times are those of the monotonic clock."""

    name: str
    scope: Scope
    request_backoff: Backoff  # of lists and questions; starts over with every answer
    watch_backoff: Backoff  # starts over with every event, and with a watch that lasted
    heard_at: float  # the last list or event
    answered_at: float  # the last list, event or answer to a question
    could_at: float  # the last time that it could watch or ask
    listed_at: float
    counts: Counts = field(default_factory=Counts)
    interruption: Interruption = field(default_factory=Interruption)
    must_list: bool = True
    must_ask: bool = False
    is_failing: bool = False  # the last request failed
    may_watch: bool = True
    is_listed: bool = False  # at least once
    is_refused: bool = False  # the last list was: what is known may be old, and nobody can tell how old
    _refreshers: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])

    def next_step(self, now: float, ask_seconds: float) -> Step:
        if self.must_list or self._refreshers:
            return Step.LIST
        if self.must_ask or now - self.answered_at >= ask_seconds:
            return Step.ASK
        return Step.WATCH

    def refreshed(self) -> asyncio.Future[None]:
        """Done when a list that begins from now on has succeeded, or was refused while there are other parts.

        Whatever is under way makes room for it.
        """
        refresher: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._refreshers.append(refresher)
        self.interruption.end()
        return refresher

    def listed(self, now: float) -> None:
        self.must_list = self.is_refused = False
        self.is_listed = True
        self.listed_at = self.heard_at = now
        self.answered(now)
        self._settle()

    def refused(self, *, has_others: bool) -> None:
        """Whoever waits for this part would wait until somebody gives us our rights back, and other parts with it."""
        self.is_refused = True
        if has_others:
            self._settle()

    def _settle(self) -> None:
        for refresher in self._refreshers:
            # One that nobody waits for any more is cancelled.
            if not refresher.done():
                refresher.set_result(None)
        self._refreshers.clear()

    def answered(self, now: float) -> None:
        self.answered_at = self.could_at = now
        self.must_ask = self.is_failing = False
        self.request_backoff.reset()

    def heard(self, now: float) -> None:
        """An event; there may be thousands in a second."""
        self.counts.events += 1
        self.heard_at = self.answered_at = self.could_at = now
        self.is_failing = False
        self.may_watch = True
        self.watch_backoff.reset()
