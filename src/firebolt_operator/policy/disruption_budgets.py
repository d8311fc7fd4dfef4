"""Is a disruption budget one? The schema takes any number and any text."""

from firebolt_operator.api.engine_settings import DisruptionBudget
from firebolt_operator.api.shares import share_problem
from firebolt_operator.api.texts import shortened
from firebolt_operator.policy.field_errors import FieldError, Path, invalid


def check_disruption_budget(budget: DisruptionBudget | None, spec: Path) -> list[FieldError]:
    """`spec` is where the budget is set, or the class that it is taken from."""
    value = budget.max_unavailable if budget else None
    problem = "" if value is None else share_problem(value)
    if not problem:
        return []
    shown = shortened(value) if isinstance(value, str) else value
    return [invalid(spec.child("podDisruptionBudget", "maxUnavailable"), shown, problem)]
