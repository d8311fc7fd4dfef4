"""May this process still write? Only for a while after it asked to renew its lease."""

import math
from dataclasses import dataclass, field
from typing import Final

from firebolt_operator.errors import FencedError
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.dead_man import DeadMansSwitch


class OpenFence:
    """Without election nobody else writes."""

    is_open: Final = True

    def remaining(self) -> float:
        return math.inf


@dataclass(slots=True)
class LeaseFence:
    """Closed until the lease is held, and again `renew_deadline` seconds after the last successful renewal was SENT.

    Another candidate waits the whole lease duration from when it SAW that renewal. It cannot see it before we sent it,
    so between our last write and its first lies at least the duration less the deadline (15 - 10 = 5 seconds): room for
    a write that was sent in time and is still on its way. The dead man's switch falls in the middle of that room.
    """

    clock: Clock
    switch: DeadMansSwitch
    lease_duration: float  # seconds
    renew_deadline: float
    _open_until: float = field(default=-math.inf, init=False)
    _doubted_at: float = field(default=-math.inf, init=False)

    def renewed(self, sent_at: float) -> None:
        """A renewal that was sent at that time (of the monotonic clock) was answered."""
        self._open_until = sent_at + self.renew_deadline
        ends_at = sent_at + (self.renew_deadline + self.lease_duration) / 2
        self.switch.arm(ends_at - self.clock.monotonic())

    def close(self) -> None:
        """The lease is lost; the switch stays armed, whatever the process does with the rest of its life."""
        self._open_until = -math.inf

    def doubt(self) -> None:
        """A write went unanswered: it may still happen."""
        self._doubted_at = self.clock.monotonic()

    @property
    def is_in_doubt(self) -> bool:
        """Whether a write of ours may still be on its way: for as long as the lease would keep others waiting."""
        return self.clock.monotonic() - self._doubted_at < self.lease_duration

    @property
    def is_open(self) -> bool:
        return self.clock.monotonic() < self._open_until

    def stand_down(self) -> None:
        """Nothing of ours writes any more, and the lease is about to be given away."""
        self.close()
        self.switch.disarm()

    def remaining(self) -> float:
        left = self._open_until - self.clock.monotonic()
        if left <= 0:
            raise FencedError("the lease is not ours any more" if math.isfinite(left) else "the lease is not ours")
        return left
