"""How many questions may strangers cost the API server? Few each, and few together: each is asked in our name."""

from typing import Final

from firebolt_operator.pace import Pace
from firebolt_operator.runtime.clock import Clock

MOST_ADDRESSES: Final = 1_000


class ReviewBudget:
    """One address does not use up what is there for all; only many together do."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of_all = Pace(per_second=10, burst=20)
        self._by_address: dict[str, Pace] = {}

    def take(self, address: str) -> bool:
        now = self._clock.monotonic()
        own = self._by_address.pop(address, None) or Pace(per_second=1, burst=5)
        self._by_address[address] = own
        if len(self._by_address) > MOST_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]
        if not (own.is_free(now) and self._of_all.is_free(now)):
            return False
        own.take(now)
        self._of_all.take(now)
        return True
