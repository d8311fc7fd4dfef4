"""Everything that an engine's next step depends on."""

from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.draining import DrainRules
from firebolt_operator.engine.decide.rolling import UNLIMITED, Origin, Turn
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.engine.listener import Listener


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    spec: EngineSpec
    uid: str  # of the engine: what it does not own is not its own
    status: EngineStatus
    facts: EngineFacts
    blueprint: Blueprint
    drain: DrainRules
    now: datetime
    turn: Turn = UNLIMITED
    origin: Origin | None = None  # None where nobody counts who rolls
    listener: Listener | None = None  # of the current generation; None: it speaks plaintext, or nobody has looked
    unresolved: str = ""  # why the blueprint knows nothing of the instance, asked only where objects were lost
