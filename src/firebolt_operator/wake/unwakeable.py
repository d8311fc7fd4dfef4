"""Which engines cannot be woken, as the API server said a moment ago? Whoever asks for one of them need not wait."""

from collections.abc import Callable
from typing import Any, Final

from firebolt_operator.api.names import AutoStopReason
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.wake.decide.answers import Answer
from firebolt_operator.wake.holds import REFUSALS, Ending, Holds

MEMORY_SECONDS: Final = 5.0
MOST_NAMES: Final = 1024  # names come from clients


class UnwakeableEngines:
    """Ends the holds of an engine that nobody can wake, and remembers for a moment why."""

    def __init__(self, holds: Holds, clock: Clock, has_endpoints: Callable[[str], bool]) -> None:
        self._holds = holds
        self._clock = clock
        self._has_endpoints = has_endpoints
        self._known: dict[str, tuple[Answer, float]] = {}  # with the instant each is forgotten, oldest first

    def __len__(self) -> int:
        return len(self._known)

    def refuse(self, engine: str, how: Ending) -> None:
        if self._has_endpoints(engine):
            return  # it came up since: that is the newer word
        self._known.pop(engine, None)
        self._known[engine] = REFUSALS[how], self._clock.monotonic() + MEMORY_SECONDS
        if len(self._known) > MOST_NAMES:
            del self._known[next(iter(self._known))]
        self._holds.end(engine, how)

    def of(self, engine: str) -> Answer | None:
        answer, until = self._known.get(engine, (None, 0.0))
        if answer is not None and self._clock.monotonic() >= until:
            del self._known[engine]
            return None
        return answer

    def forget(self, engine: str) -> None:
        self._known.pop(engine, None)


def is_stopped_by_owner(engine: Manifest) -> bool:
    """No query wakes an engine without auto-stop; the status knows whether a class turns it on.

    The engine's own spec may be ahead of its status: then the operator has the next word.
    """
    spec, status = mapping(engine.get("spec")), mapping(engine.get("status"))
    wish: Any = mapping(spec.get("autoStop")).get("enabled")
    return spec.get("replicas") == 0 and status.get("autoStopReason") == AutoStopReason.DISABLED and wish is not True
