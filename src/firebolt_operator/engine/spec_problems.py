"""What must a person mend in an engine's settings, and what holds until then?

A mistake suspends only what it governs: an engine with a malformed timeout still wakes, rolls and serves.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from firebolt_operator.api.duration_fields import malformed_durations
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EngineReason
from firebolt_operator.engine.inputs import ClassInfo

UNPARKED: Final = "until then the engine is woken, but neither parked nor scheduled"
MEANWHILE: Final = {
    "autoStop": UNPARKED,
    "drainCheckInterval": "until then 5s holds",
    "drainTimeout": "until then a drain waits without a limit",
    "progressDeadline": "until then 30m holds",
}
_ATTRIBUTES: Final = {field.encode_name: field.name for field in msgspec.structs.fields(EngineSpec)}


def spec_problems(spec: EngineSpec, engine_class: ClassInfo | None) -> Stalled | None:
    problems = [*_own(spec), *(_inherited(spec, engine_class) if engine_class else ())]
    return Stalled(EngineReason.SPEC_INVALID, "; ".join(problems)) if problems else None


def _own(spec: EngineSpec) -> Iterator[str]:
    for each in malformed_durations(spec):
        yield f"spec.{each.field}: {each.problem}; {MEANWHILE[_setting(each.field)]}"


def _inherited(spec: EngineSpec, engine_class: ClassInfo) -> Iterator[str]:
    """Only what the engine takes from its class concerns it."""
    for each in malformed_durations(engine_class.spec):
        setting = _setting(each.field)
        if getattr(spec, _ATTRIBUTES[setting]) is None:
            origin = f'inherited from FireboltEngineClass "{engine_class.name}"'
            advice = "mend it there, or set it on this engine"
            yield f"spec.engineClassRef.{each.field}: {each.problem} ({origin}; {advice}); {MEANWHILE[setting]}"


def _setting(path: str) -> str:
    return path.partition(".")[0]
