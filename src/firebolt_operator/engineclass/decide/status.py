"""Is what engines share fit for use, and may it go?"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.conditions import Condition, with_condition
from firebolt_operator.api.duration_fields import malformed_durations
from firebolt_operator.api.engine_class import EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.engine_preset import EnginePresetStatus, FireboltEnginePreset
from firebolt_operator.api.kstatus import ENGINE_CLASS_REASONS, Stalled, with_progress
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import EngineClassReason
from firebolt_operator.manifests.references import ref_to
from firebolt_operator.policy.bounds import ResourceBounds, check_auto_stop_replicas
from firebolt_operator.policy.class_checks import check_class_template, check_preset_template
from firebolt_operator.policy.disruption_budgets import check_disruption_budget
from firebolt_operator.policy.field_errors import FieldError, Path, aggregate
from firebolt_operator.policy.guards import CLASS_GUARD, PRESET_GUARD, Guard
from firebolt_operator.reconciling.verdicts import Verdict

SPEC: Final = Path("spec")
AUTO_STOP: Final = SPEC.child("autoStop")


def decide_status(
    engine_class: FireboltEngineClass, bound_engines: int, *, bounds: ResourceBounds, now: datetime
) -> EngineClassStatus:
    verdict = _verdict(CLASS_GUARD, engine_class.metadata, bound_engines, check_class_template(engine_class.spec))
    told = _next_conditions(
        engine_class.status.conditions, engine_class.metadata, verdict, now, _to_mend(engine_class, bounds)
    )
    return EngineClassStatus(
        observed_generation=engine_class.metadata.generation, bound_engines=bound_engines, conditions=told
    )


def decide_preset_status(preset: FireboltEnginePreset, bound_engines: int, *, now: datetime) -> EnginePresetStatus:
    verdict = _verdict(PRESET_GUARD, preset.metadata, bound_engines, check_preset_template(preset.spec))
    told = _next_conditions(preset.status.conditions, preset.metadata, verdict, now)
    return EnginePresetStatus(
        observed_generation=preset.metadata.generation, bound_engines=bound_engines, conditions=told
    )


def _next_conditions(
    conditions: Sequence[Condition],
    metadata: ObjectMeta,
    verdict: Verdict,
    now: datetime,
    to_mend: Stalled | None = None,
) -> list[Condition]:
    ready = verdict.dated(names.CONDITION_READY, spec_generation=metadata.generation, now=now)
    progress = to_mend or ENGINE_CLASS_REASONS.progress(ready.reason, ready.message)
    told = with_condition(conditions, ready)
    return with_progress(told, progress, spec_generation=metadata.generation, now=now)


def _to_mend(engine_class: FireboltEngineClass, bounds: ResourceBounds) -> Stalled | None:
    """Its engines go on without the setting, so the class is fit for use; yet nobody meant it to be like that."""
    spec = engine_class.spec
    if engine_class.metadata.is_deleting or spec is None:
        return None
    problems = [f"spec.{each.field}: {each.problem}" for each in malformed_durations(spec)]
    if spec.auto_stop is not None:
        problems += map(str, check_auto_stop_replicas(spec.auto_stop, AUTO_STOP, bounds))
    problems += map(str, check_disruption_budget(spec.pod_disruption_budget, SPEC))
    return Stalled(EngineClassReason.SPEC_INVALID, "; ".join(problems)) if problems else None


def _verdict(guard: Guard, metadata: ObjectMeta, bound_engines: int, errors: Sequence[FieldError]) -> Verdict:
    """While it is being deleted only that is reported: why a deletion hangs must not be obscured."""
    if metadata.is_deleting:
        message = guard.blocked(ref_to(guard.resource, metadata), bound_engines)
        return Verdict("False", EngineClassReason.DELETION_BLOCKED, message)
    if errors:
        return Verdict("False", EngineClassReason.OPERATOR_OWNED_FIELD_SET, aggregate(errors))
    return Verdict("True", EngineClassReason.ADMISSIBLE, "spec.template contains no operator-owned paths")


Counted = EngineClassStatus | EnginePresetStatus


def is_news(old: Counted, new: Counted) -> bool:
    """A condition whose words and verdict stay is no news, whatever its bookkeeping says."""
    return (old.bound_engines, old.observed_generation, _words(old)) != (
        new.bound_engines,
        new.observed_generation,
        _words(new),
    )


def _words(status: Counted) -> list[tuple[str, str, str, str]]:
    return [(each.type, each.status, each.reason, each.message) for each in status.conditions]
