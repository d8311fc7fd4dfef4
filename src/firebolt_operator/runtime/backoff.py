"""How long to wait before the next try?"""

import random
from dataclasses import dataclass


@dataclass(slots=True)
class Backoff:
    """Doubles from `first` to `longest` seconds; jitter keeps a thousand clients from coming back together."""

    rng: random.Random
    first: float = 0.5
    longest: float = 30.0
    _next: float = 0.0

    def reset(self) -> None:
        self._next = 0.0

    def next_delay(self) -> float:
        """Seconds, between a half and the whole of the current step."""
        step = self._next or self.first
        self._next = min(step * 2, self.longest)
        return step * self.rng.uniform(0.5, 1.0)
