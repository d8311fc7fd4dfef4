"""Is this class fit for use, and may it go?"""

from datetime import datetime

from firebolt_operator.api import names
from firebolt_operator.api.conditions import Condition, find_condition, with_condition
from firebolt_operator.api.engine_class import EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.names import EngineClassReason
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.policy.class_checks import check_class_template, deletion_blocked_message
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.refs import Ref


def decide_status(engine_class: FireboltEngineClass, bound_engines: int, *, now: datetime) -> EngineClassStatus:
    ready = _ready(engine_class, _verdict(engine_class, bound_engines), now)
    return EngineClassStatus(
        observed_generation=engine_class.metadata.generation,
        bound_engines=bound_engines,
        conditions=with_condition(engine_class.status.conditions, ready),
    )


def _verdict(engine_class: FireboltEngineClass, bound_engines: int) -> tuple[bool, str, str]:
    """While it is being deleted only that is reported: why a deletion hangs must not be obscured."""
    if engine_class.metadata.is_deleting:
        message = deletion_blocked_message(ref_of(engine_class), bound_engines)
        return False, EngineClassReason.DELETION_BLOCKED, message
    errors = check_class_template(engine_class.spec)
    if errors:
        return False, EngineClassReason.OPERATOR_OWNED_FIELD_SET, aggregate(errors)
    return True, EngineClassReason.ADMISSIBLE, "spec.template contains no operator-owned paths"


def is_news(old: EngineClassStatus, new: EngineClassStatus) -> bool:
    """A condition whose words and verdict stay is no news, whatever its bookkeeping says."""
    return (old.bound_engines, old.observed_generation, _words(old)) != (
        new.bound_engines,
        new.observed_generation,
        _words(new),
    )


def ref_of(engine_class: FireboltEngineClass) -> Ref:
    return Ref(FIREBOLT_ENGINE_CLASSES, engine_class.metadata.namespace, engine_class.metadata.name)


def _ready(engine_class: FireboltEngineClass, verdict: tuple[bool, str, str], now: datetime) -> Condition:
    is_true, reason, message = verdict
    return Condition(
        type=names.CONDITION_READY,
        status="True" if is_true else "False",
        reason=reason,
        message=message,
        last_transition_time=now,
        observed_generation=engine_class.metadata.generation,
    )


def _words(status: EngineClassStatus) -> tuple[str, str, str] | None:
    ready = find_condition(status.conditions, names.CONDITION_READY)
    return None if ready is None else (ready.status, ready.reason, ready.message)
