"""How often may something be done that others cause? A few times at once, then at a steady rate. Pure."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Pace:
    per_second: float
    burst: int
    # Counted in whole ones, not in seconds: tenths of them add up to a little more than they should.
    _spent: float = 0.0
    _since: float = float("-inf")

    @property
    def free_at(self) -> float:
        """When the next one may be done."""
        return self._since + (self._spent - (self.burst - 1)) / self.per_second

    def is_free(self, now: float) -> bool:
        return now >= self.free_at

    def take(self, now: float) -> None:
        regained = max(now - self._since, 0.0) * self.per_second
        self._spent = max(self._spent - regained, 0.0) + 1.0
        self._since = max(self._since, now)
