"""Which wake requests are for engines, and which for names that a client made up? Each kind has a book of its own.

Of every engine that has a Service, parked ones included, the API server shows an EndpointSlice: only one that is being
made is a stranger, as is every name that does not exist. However many of those are asked for, they get few places, few
stamps and few holds, and take none of an engine that is known.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.pace import Pace
from firebolt_operator.wake.decide.wake_requests import IsWaiting, WakeRequests

MOST_STRANGERS: Final = 64
STRANGERS_PER_SECOND: Final = 10.0
STRANGERS_BURST: Final = 20
MOST_ACCEPTED: Final = 4096


@dataclass(slots=True)
class WakeBooks:
    is_seen: Callable[[str], bool]  # the API server shows something of this engine
    known: WakeRequests
    strangers: WakeRequests
    _accepted: dict[str, None] = field(default_factory=dict[str, None])  # it took a stamp for them; oldest first

    def book_of(self, engine: str) -> WakeRequests:
        """Where to ask for it from now on."""
        if not self.is_known(engine):
            return self.strangers
        if engine in self.strangers:
            self.strangers.forget(engine)
        return self.known

    def is_known(self, engine: str) -> bool:
        return engine in self._accepted or self.is_seen(engine)

    def held_by_strangers(self, count: Callable[[str], int]) -> int:
        return sum(map(count, self.strangers.engines))

    def accept(self, engine: str, *, now: float) -> None:
        """The API server took a stamp for it, so there is such an engine: it is no stranger any more."""
        self._accepted.pop(engine, None)
        self._accepted[engine] = None
        if len(self._accepted) > MOST_ACCEPTED:
            del self._accepted[next(iter(self._accepted))]
        if engine in self.strangers:
            self.strangers.forget(engine)
            self.known.take_over(engine, now=now)

    def deny(self, engine: str) -> None:
        """There is none, or no longer."""
        self._accepted.pop(engine, None)


def wake_books(is_seen: Callable[[str], bool], is_waiting: IsWaiting) -> WakeBooks:
    pace = Pace(per_second=STRANGERS_PER_SECOND, burst=STRANGERS_BURST)
    return WakeBooks(is_seen, WakeRequests(is_waiting), WakeRequests(is_waiting, most=MOST_STRANGERS, pace=pace))
