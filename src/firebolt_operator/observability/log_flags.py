"""Which flags choose how logs look? The same for every sub-command."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import BOOLEANS, Flag, Kind, UsageError
from firebolt_operator.observability.logs import (
    DEVELOPMENT,
    LogSettings,
    parse_encoder,
    parse_level,
    parse_stacktrace_level,
)

T = TypeVar("T")

TIME_ENCODINGS: Final = ("", "epoch", "millis", "nanos", "iso8601", "rfc3339", "rfc3339nano")

LOG_FLAGS: Final[tuple[Flag, ...]] = (
    Flag(name="zap-devel", kind=Kind.BOOLEAN, default="false", help="logs for development: console, debug"),
    Flag(name="zap-encoder", help="json or console (default json, console in development)"),
    Flag(name="zap-log-level", help="debug, info, error, panic or a number above 0 (default info)"),
    Flag(name="zap-stacktrace-level", help="info, error or panic (default error)"),
    Flag(name="zap-time-encoding", help="accepted and without effect: times are always RFC 3339"),
)


def parse_log_settings(values: Mapping[str, str]) -> LogSettings:
    """Raises UsageError."""
    if values["zap-time-encoding"] not in TIME_ENCODINGS:
        words = ", ".join(word for word in TIME_ENCODINGS if word)
        raise UsageError(f'invalid value "{values["zap-time-encoding"]}" for flag -zap-time-encoding: one of {words}')
    profile = DEVELOPMENT if BOOLEANS[values["zap-devel"]] else LogSettings()
    return replace(
        profile,
        encoder=_parsed(values, "zap-encoder", parse_encoder, profile.encoder),
        level=_parsed(values, "zap-log-level", parse_level, profile.level),
        stacktrace_level=_parsed(values, "zap-stacktrace-level", parse_stacktrace_level, profile.stacktrace_level),
    )


def _parsed(values: Mapping[str, str], name: str, parse: Callable[[str], T], default: T) -> T:
    if not values[name]:
        return default
    try:
        return parse(values[name])
    except ConfigurationError as err:
        raise UsageError(f'invalid value "{values[name]}" for flag -{name}: {err}') from err
