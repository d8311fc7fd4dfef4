"""What holds for an engine: its own setting, else its class's, else the operator's default. One resolver per setting.

The defaults live here and not in the CRD: a default written into every engine would hide the class's value.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_settings import AutoStop, EmptyDirStorage, Storage
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.errors import SpecRejectedError

DRAIN_INTERVAL: Final = timedelta(seconds=5)
IDLE_TIMEOUT: Final = timedelta(minutes=30)
POLL_INTERVAL: Final = timedelta(minutes=1)

ENGINE_PATH: Final = "spec"
CLASS_PATH: Final = "spec.engineClassRef"


def effective_storage(spec: EngineSpec, engine_class: ClassInfo | None) -> Storage:
    """Taken whole: a backend's fields are never mixed."""
    if spec.storage.names_a_backend:
        return spec.storage
    if engine_class and engine_class.spec.storage.names_a_backend:
        return engine_class.spec.storage
    return Storage(empty_dir=EmptyDirStorage())


def effective_ui_sidecar(spec: EngineSpec, engine_class: ClassInfo | None) -> bool:
    inherited = engine_class.spec.ui_sidecar if engine_class else None
    return bool(inherited if spec.ui_sidecar is None else spec.ui_sidecar)


def effective_rollout(spec: EngineSpec, engine_class: ClassInfo | None) -> Rollout:
    inherited = engine_class.spec.rollout if engine_class else None
    return Rollout(spec.rollout or inherited or Rollout.GRACEFUL)


def effective_drain_check_enabled(spec: EngineSpec, engine_class: ClassInfo | None) -> bool:
    inherited = engine_class.spec.drain_check_enabled if engine_class else None
    chosen = inherited if spec.drain_check_enabled is None else spec.drain_check_enabled
    return chosen is not False


def effective_drain_interval(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta:
    inherited = engine_class.spec.drain_check_interval if engine_class else None
    chosen = _inheritable("drainCheckInterval", spec.drain_check_interval, inherited)
    return (chosen and chosen.if_positive()) or DRAIN_INTERVAL


def effective_drain_timeout(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta | None:
    """None waits for ever; so does zero or less, since the other reading would cut running queries off."""
    inherited = engine_class.spec.drain_timeout if engine_class else None
    chosen = _inheritable("drainTimeout", spec.drain_timeout, inherited)
    return chosen.if_positive() if chosen else None


def effective_auto_stop(spec: EngineSpec, engine_class: ClassInfo | None) -> AutoStop | None:
    """Taken whole; None is off."""
    inherited = engine_class.spec.auto_stop if engine_class else None
    return inherited if spec.auto_stop is None else spec.auto_stop


def effective_idle_timeout(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta:
    policy = effective_auto_stop(spec, engine_class)
    chosen = policy and _Duration(f"{_auto_stop_path(spec)}.idleTimeout", policy.idle_timeout)
    return (chosen and chosen.if_positive()) or IDLE_TIMEOUT


def effective_poll_interval(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta:
    policy = effective_auto_stop(spec, engine_class)
    chosen = policy and _Duration(f"{_auto_stop_path(spec)}.pollInterval", policy.poll_interval)
    return (chosen and chosen.if_positive()) or POLL_INTERVAL


def _auto_stop_path(spec: EngineSpec) -> str:
    return f"{CLASS_PATH if spec.auto_stop is None else ENGINE_PATH}.autoStop"


@dataclass(frozen=True, slots=True)
class _Duration:
    """A duration as someone wrote it, and where: a malformed one must name the field to mend."""

    path: str
    text: str

    def if_positive(self) -> timedelta | None:
        try:
            duration = parse_duration(self.text)
        except ValueError as err:
            raise SpecRejectedError(self.path, str(err)) from err
        return duration if duration > timedelta(0) else None


def _inheritable(field: str, own: str | None, inherited: str | None) -> _Duration | None:
    if own is not None:
        return _Duration(f"{ENGINE_PATH}.{field}", own)
    return None if inherited is None else _Duration(f"{CLASS_PATH}.{field}", inherited)
