"""Does a signing key that was replaced stay for as long as a token that it signed may be shown?"""

from datetime import timedelta
from typing import Final

from firebolt_operator.api.auth import LocalAuthSpec
from firebolt_operator.api.durations import format_duration, parse_duration
from firebolt_operator.policy.durations import parsed_engine_duration
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden, invalid, required

DEFAULT_TOKEN_AGE: Final = timedelta(hours=24)
DEFAULT_SKEW: Final = timedelta(seconds=30)


def check_rotation(local: LocalAuthSpec, base: Path) -> list[FieldError]:
    """What is no duration at all is told elsewhere."""
    keys = local.signing_keys
    interval = keys.rotation_interval if keys else None
    retained = keys.retain_duration if keys else None
    path = base.child("retainDuration")
    if interval is None:
        detail = "has no effect without rotationInterval; set both or neither"
        return [] if retained is None else [forbidden(path, detail)]
    span = _parsed(interval)
    if span is not None and span <= timedelta(0):
        return [invalid(base.child("rotationInterval"), interval, "must be positive")]
    if retained is None:
        return [required(path, "say how long a replaced key still validates tokens")]
    return _retention_errors(_parsed(retained), least_retention(local), path)


def least_retention(local: LocalAuthSpec) -> timedelta:
    """A token is valid until its age and the skew are used up; a malformed setting must never shorten that."""
    age, skew = parsed_engine_duration(local.max_token_age), parsed_engine_duration(local.clock_skew_tolerance)
    longest = age if age is not None and age > timedelta(0) else DEFAULT_TOKEN_AGE
    return longest + (skew if skew is not None and skew >= timedelta(0) else DEFAULT_SKEW)


def _retention_errors(retained: timedelta | None, least: timedelta, path: Path) -> list[FieldError]:
    if retained is None or retained >= least:
        return []
    detail = f"must be at least maxTokenAge + clockSkewTolerance ({format_duration(least)})"
    return [invalid(path, format_duration(retained), detail)]


def _parsed(text: str) -> timedelta | None:
    try:
        return parse_duration(text)
    except ValueError:
        return None
