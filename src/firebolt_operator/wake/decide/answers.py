"""What does the agent say to Envoy? One answer for each way a question can end."""

import re
from dataclasses import dataclass
from typing import Final

DECISION_HEADER: Final = "x-firebolt-wake-decision"
"""Tells the agent's own refusal from one that Envoy makes up when it cannot reach the agent."""

_ENGINE_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Answer:
    decision: str
    status: int = 200
    body: str = ""
    retry_after: int | None = None  # seconds


REJECTED: Final = Answer("rejected", 400, "invalid engine name")
UNSYNCED: Final = Answer("unsynced")
READY: Final = Answer("ready")
RELEASED: Final = Answer("released")
SHED: Final = Answer("shed", 503, "gateway wake capacity reached", retry_after=5)
FLAPPED: Final = Answer("timeout", 503, "engine became ready then went away", retry_after=5)
TIMED_OUT: Final = Answer("timeout", 503, "engine did not become ready", retry_after=10)
LEAVING: Final = Answer("leaving", 503, "gateway is shutting down", retry_after=1)
MISSING: Final = Answer("missing", 404, "no such engine")
STOPPED: Final = Answer("stopped", 503, "stopped by its owner")
_ALL: Final = (REJECTED, UNSYNCED, READY, RELEASED, SHED, FLAPPED, TIMED_OUT, LEAVING, MISSING, STOPPED)
DECISIONS: Final = tuple(dict.fromkeys(each.decision for each in _ALL))


def is_engine_name(name: str) -> bool:
    """Not trusting Envoy's own check: what passes becomes part of a path, of a host name and of labels."""
    return _ENGINE_NAME.fullmatch(name) is not None
