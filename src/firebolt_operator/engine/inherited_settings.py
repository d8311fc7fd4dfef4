"""What holds for an engine: its own setting, else its class's, else the operator's default. One resolver per setting.

The defaults live here and not in the CRD: a default written into every engine would hide the class's value. A malformed
duration counts as its default; `spec_problems` tells of it.
"""

from datetime import timedelta
from typing import Final

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_settings import AutoStop, DisruptionBudget, EmptyDirStorage, Storage
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.inputs import ClassInfo, PresetInfo

DRAIN_INTERVAL: Final = timedelta(seconds=5)
IDLE_TIMEOUT: Final = timedelta(minutes=30)
POLL_INTERVAL: Final = timedelta(minutes=1)
PROGRESS_DEADLINE: Final = timedelta(minutes=30)
SHORTEST_INTERVAL: Final = timedelta(seconds=1)
"""Nobody may have an engine looked at without a pause."""


def effective_storage(spec: EngineSpec, engine_class: ClassInfo | None, preset: PresetInfo | None = None) -> Storage:
    """Taken whole: a backend's fields are never mixed."""
    layers = (spec, *(each.spec for each in (preset, engine_class) if each is not None))
    chosen = next((layer.storage for layer in layers if layer.storage.names_a_backend), None)
    return chosen or Storage(empty_dir=EmptyDirStorage())


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
    return max(SHORTEST_INTERVAL, _positive(spec.drain_check_interval, inherited) or DRAIN_INTERVAL)


def effective_drain_timeout(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta | None:
    """None waits for ever; so does zero or less, since the other reading would cut running queries off."""
    return _positive(spec.drain_timeout, engine_class.spec.drain_timeout if engine_class else None)


def effective_progress_deadline(spec: EngineSpec, engine_class: ClassInfo | None) -> timedelta | None:
    """None for no limit, which zero or less asks for."""
    inherited = engine_class.spec.progress_deadline if engine_class else None
    chosen = _parsed(inherited if spec.progress_deadline is None else spec.progress_deadline)
    if chosen is None:
        return PROGRESS_DEADLINE
    return chosen if chosen > timedelta(0) else None


def effective_auto_stop(spec: EngineSpec, engine_class: ClassInfo | None) -> AutoStop | None:
    """Taken whole; None is off."""
    inherited = engine_class.spec.auto_stop if engine_class else None
    return inherited if spec.auto_stop is None else spec.auto_stop


def effective_disruption_budget(spec: EngineSpec, engine_class: ClassInfo | None) -> DisruptionBudget | None:
    """Taken whole; None is none, and so is one that says nothing: an engine may leave its class's."""
    inherited = engine_class.spec.pod_disruption_budget if engine_class else None
    return inherited if spec.pod_disruption_budget is None else spec.pod_disruption_budget


def idle_timeout(policy: AutoStop) -> timedelta:
    return _positive(policy.idle_timeout) or IDLE_TIMEOUT


def poll_interval(policy: AutoStop) -> timedelta:
    return max(SHORTEST_INTERVAL, _positive(policy.poll_interval) or POLL_INTERVAL)


def _positive(own: str | None, inherited: str | None = None) -> timedelta | None:
    duration = _parsed(inherited if own is None else own)
    return duration if duration is not None and duration > timedelta(0) else None


def _parsed(text: str | None) -> timedelta | None:
    try:
        return None if text is None else parse_duration(text)
    except ValueError:
        return None
