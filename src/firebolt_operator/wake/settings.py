"""The agent's flags and environment, parsed once into a frozen value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.durations import parse_duration
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import Flag, Kind, UsageError, parse_flags
from firebolt_operator.observability.log_flags import LOG_FLAGS, parse_log_settings
from firebolt_operator.observability.logs import LogSettings
from firebolt_operator.wake.decide.capacity import HoldLimits

DEFAULT_HOLD_CAP: Final = 256
DEFAULT_HOLD_TIMEOUT: Final = timedelta(seconds=120)
DEFAULT_DRAIN_TIMEOUT: Final = timedelta(seconds=15)

FLAGS: Final[tuple[Flag, ...]] = (
    Flag(name="namespace", environment="POD_NAMESPACE", help="namespace of the engines (default: the pod's own)"),
    Flag(
        name="hold-port",
        kind=Kind.NUMBER,
        default=str(names.PORT_WAKE_HOLD),
        help="port on loopback where Envoy asks whether a query may go on",
    ),
    Flag(
        name="metrics-port",
        kind=Kind.NUMBER,
        default=str(names.PORT_WAKE_METRICS),
        help="port where metrics are served",
    ),
    Flag(name="envoy-admin-url", help="Envoy's admin address; empty asks Envoy nothing"),
    Flag(
        name="envoy-memory-limit-bytes",
        kind=Kind.NUMBER,
        environment="ENVOY_MEMORY_LIMIT_BYTES",
        help="Envoy's memory limit; 0 means unknown",
    ),
    Flag(name="per-hold-bytes", kind=Kind.NUMBER, default="0", help="memory that one held query takes of Envoy"),
    Flag(
        name="fallback-hold-cap",
        kind=Kind.NUMBER,
        default=str(DEFAULT_HOLD_CAP),
        help="queries held at once while a memory limit is unknown; negative for any number",
    ),
    Flag(name="hold-timeout", default="120s", help="longest time one query is held"),
    Flag(
        name="drain-timeout",
        default="15s",
        help="from the signal to the pod's end: the agent leaves when Envoy is gone, and holds no query beyond it",
    ),
    Flag(
        name="instance",
        help="whose gateway this is; a leaving pod asks for it, because without its instance it has a minute at most",
    ),
    *LOG_FLAGS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    namespace: str
    hold_port: int
    metrics_port: int
    envoy_admin_url: str  # empty: nobody to ask
    limits: HoldLimits
    hold_timeout: timedelta
    drain_timeout: timedelta
    instance: str  # empty: the pod has all of its time, whatever becomes of its instance
    logs: LogSettings


def parse_agent_settings(words: Sequence[str], environment: Mapping[str, str]) -> AgentSettings:
    """Raises UsageError, or ConfigurationError if the flags make sense and the namespace is missing."""
    values = parse_flags(words, FLAGS, environment)
    settings = AgentSettings(
        namespace=values["namespace"],
        hold_port=_port(values, "hold-port"),
        metrics_port=_port(values, "metrics-port"),
        envoy_admin_url=values["envoy-admin-url"],
        limits=HoldLimits(
            memory_limit=_whole_number(values["envoy-memory-limit-bytes"]),
            per_hold=int(values["per-hold-bytes"]),
            fallback=int(values["fallback-hold-cap"]) or DEFAULT_HOLD_CAP,
        ),
        hold_timeout=_timeout(values, "hold-timeout") or DEFAULT_HOLD_TIMEOUT,
        drain_timeout=_timeout(values, "drain-timeout") or DEFAULT_DRAIN_TIMEOUT,
        instance=values["instance"],
        logs=parse_log_settings(values),
    )
    if not settings.namespace:
        raise ConfigurationError("no namespace: set --namespace or POD_NAMESPACE")
    return settings


def _whole_number(text: str) -> int:
    """The variable is whatever Kubernetes made of a resource field; nonsense in it must not stop the agent."""
    try:
        return int(text)
    except ValueError:
        return 0


def _port(values: Mapping[str, str], name: str) -> int:
    port = int(values[name])
    if not 0 <= port <= 65535:
        raise UsageError(f'invalid value "{port}" for flag -{name}: not a port')
    return port


def _timeout(values: Mapping[str, str], name: str) -> timedelta:
    text = values[name]
    try:
        timeout = parse_duration(text)
    except ValueError as err:
        raise UsageError(f'invalid value "{text}" for flag -{name}: {err}') from err
    if timeout < timedelta(0):
        raise UsageError(f'invalid value "{text}" for flag -{name}: must not be negative')
    return timeout
