"""How long do queries wait, and how long does an engine take that somebody waits for?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from firebolt_operator.runtime.clock import Clock

LEFT: Final = "left"
"""How a hold ends whose caller hangs up, or whose gateway leaves."""


class HoldRecorder(Protocol):
    def held(self, outcome: str, seconds: float, /) -> None: ...
    def woken(self, seconds: float, /) -> None: ...
    def shed(self, engine: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class HoldTimes:
    """Remembers of each engine that is waited for since when: never more of them than there are holds."""

    clock: Clock
    recorder: HoldRecorder
    is_waited_for: Callable[[str], bool]
    _since: dict[str, float] = field(default_factory=dict[str, float])

    def began(self, engine: str) -> float:
        """When, for `ended`."""
        now = self.clock.monotonic()
        self._since.setdefault(engine, now)
        return now

    def ready(self, engine: str) -> None:
        since = self._since.pop(engine, None)
        if since is not None:
            self.recorder.woken(self.clock.monotonic() - since)

    def ended(self, engine: str, outcome: str, began_at: float) -> None:
        self.recorder.held(outcome, self.clock.monotonic() - began_at)
        if not self.is_waited_for(engine):
            self._since.pop(engine, None)
