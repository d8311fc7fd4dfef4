"""How many questions may strangers cost the API server? Few each, and few together: each is asked in our name."""

from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.runtime.clock import Clock

MOST_ADDRESSES: Final = 1_000


@dataclass(slots=True)
class Allowance:
    """So many at once, and as it fills up again so many a second."""

    most: float
    per_second: float
    filled_at: float
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.most

    def has_one(self, now: float) -> bool:
        self.left = min(self.left + (now - self.filled_at) * self.per_second, self.most)
        self.filled_at = now
        return self.left >= 1


class ReviewBudget:
    """One address does not use up what is there for all; only many together do."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._of_all = Allowance(20, 10, clock.monotonic())
        self._by_address: dict[str, Allowance] = {}

    def take(self, address: str) -> bool:
        now = self._clock.monotonic()
        own = self._by_address.pop(address, None) or Allowance(5, 1, now)
        self._by_address[address] = own
        if len(self._by_address) > MOST_ADDRESSES:
            del self._by_address[next(iter(self._by_address))]
        if not (own.has_one(now) and self._of_all.has_one(now)):
            return False
        own.left -= 1
        self._of_all.left -= 1
        return True
