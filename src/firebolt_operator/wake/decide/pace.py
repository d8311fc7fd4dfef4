"""How often may something be done that strangers cause? A few times at once, then at a steady rate. Pure."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Pace:
    per_second: float
    burst: int
    _paid_until: float = float("-inf")  # when all that was done so far is paid for

    @property
    def free_at(self) -> float:
        """When the next one may be done."""
        return self._paid_until - (self.burst - 1) / self.per_second

    def take(self, now: float) -> None:
        self._paid_until = max(self._paid_until, now) + 1 / self.per_second
