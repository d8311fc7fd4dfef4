"""Is every duration of an object one, and long enough? The schema takes any text."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from firebolt_operator.api.duration_fields import named_durations
from firebolt_operator.api.durations import format_duration, parse_duration, parse_engine_duration
from firebolt_operator.api.model import Model
from firebolt_operator.api.texts import shortened
from firebolt_operator.policy.field_errors import FieldError, Path, invalid

ENGINE_FLOORS: Final = {"drainCheckInterval": timedelta(seconds=1), "autoStop.pollInterval": timedelta(seconds=1)}
"""Of engines and classes. A stored value below them is raised at run time; nobody may write a new one."""
NO_FLOORS: Final[Mapping[str, timedelta]] = {}
NOT_A_DURATION: Final = 'must be a valid duration string (e.g. "30s", "1h", "1d")'


def check_durations(model: Model, base: Path, floors: Mapping[str, timedelta] = NO_FLOORS) -> list[FieldError]:
    found: list[FieldError] = []
    for path, text in named_durations(model):
        problem = _problem(text, floors.get(path))
        if problem:
            found.append(invalid(base.child(path), shortened(text), problem))
    return found


def _problem(text: str, floor: timedelta | None) -> str:
    try:
        duration = parse_duration(text)
    except ValueError as err:
        return str(err)
    return f"must be at least {format_duration(floor)}" if floor is not None and duration < floor else ""


def parsed_engine_duration(text: str) -> timedelta | None:
    """In the engine's own grammar; None for what is none."""
    try:
        return parse_engine_duration(text)
    except ValueError:
        return None


def check_engine_duration(text: str, path: Path, *, is_positive: bool = False) -> list[FieldError]:
    """An empty text is one that nobody wrote."""
    if not text:
        return []
    duration = parsed_engine_duration(text)
    if duration is None:
        return [invalid(path, shortened(text), NOT_A_DURATION)]
    return [invalid(path, text, "must be positive")] if is_positive and duration <= timedelta(0) else []
