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
from firebolt_operator.engine.inherited_settings import effective_auto_stop, effective_disruption_budget
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.policy.bounds import ResourceBounds, check_auto_stop_replicas, check_replicas
from firebolt_operator.policy.disruption_budgets import check_disruption_budget
from firebolt_operator.policy.field_errors import Path

SPEC: Final = Path("spec")
UNPARKED: Final = "until then the engine is woken, but neither parked nor scheduled"
MEANWHILE: Final = {
    "autoStop": UNPARKED,
    "drainCheckInterval": "until then 5s holds",
    "drainTimeout": "until then a drain waits without a limit",
    "progressDeadline": "until then 30m holds",
}
_ATTRIBUTES: Final = {field.encode_name: field.name for field in msgspec.structs.fields(EngineSpec)}


def spec_problems(spec: EngineSpec, engine_class: ClassInfo | None, bounds: ResourceBounds) -> Stalled | None:
    problems = [*_own(spec), *(_inherited(spec, engine_class) if engine_class else ())]
    problems += _too_many(spec, engine_class, bounds)
    problems += _bad_budget(spec, engine_class)
    return Stalled(EngineReason.SPEC_INVALID, "; ".join(problems)) if problems else None


def _own(spec: EngineSpec) -> Iterator[str]:
    for each in malformed_durations(spec):
        yield f"spec.{each.field}: {each.problem}; {MEANWHILE[_setting(each.field)]}"


def _inherited(spec: EngineSpec, engine_class: ClassInfo) -> Iterator[str]:
    """Only what the engine takes from its class concerns it."""
    for each in malformed_durations(engine_class.spec):
        setting = _setting(each.field)
        if getattr(spec, _ATTRIBUTES[setting]) is None:
            yield f"spec.engineClassRef.{each.field}: {each.problem}{_origin(engine_class)}; {MEANWHILE[setting]}"


def _too_many(spec: EngineSpec, engine_class: ClassInfo | None, bounds: ResourceBounds) -> Iterator[str]:
    for error in check_replicas(spec.replicas, SPEC.child("replicas"), bounds):
        yield f"{error}; until then nothing is rendered, and what runs goes on"
    policy = effective_auto_stop(spec, engine_class)
    is_own = spec.auto_stop is not None
    path = (SPEC if is_own else SPEC.child("engineClassRef")).child("autoStop")
    for error in check_auto_stop_replicas(policy, path, bounds) if policy else ():
        origin = "" if is_own or engine_class is None else _origin(engine_class)
        yield f"{error}{origin}; until then {bounds.replicas} holds"


def _bad_budget(spec: EngineSpec, engine_class: ClassInfo | None) -> Iterator[str]:
    is_own = spec.pod_disruption_budget is not None
    path = SPEC if is_own else SPEC.child("engineClassRef")
    for error in check_disruption_budget(effective_disruption_budget(spec, engine_class), path):
        origin = "" if is_own or engine_class is None else _origin(engine_class)
        yield f"{error}{origin}; until then the budget stays as it is"


def _origin(engine_class: ClassInfo) -> str:
    return f' (inherited from {engine_class.kind} "{engine_class.name}"; mend it there, or set it on this engine)'


def _setting(path: str) -> str:
    return path.partition(".")[0]
