"""How do the three kinds come off the wire, and how does their status go back onto it?"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.engine_class import EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.refs import Manifest

Status = EngineStatus | EngineClassStatus | InstanceStatus
_Kind = TypeVar("_Kind", FireboltEngine, FireboltEngineClass, FireboltInstance)

_ENGINE: Final = msgspec.json.Decoder(FireboltEngine)
_ENGINE_CLASS: Final = msgspec.json.Decoder(FireboltEngineClass)
_INSTANCE: Final = msgspec.json.Decoder(FireboltInstance)

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)
_WHERE: Final = re.compile(r"(?P<problem>.*) - at `\$\.?(?P<field>.*)`", re.DOTALL)


def parse_engine(raw: Manifest | bytes) -> FireboltEngine:
    return _parse(raw, _ENGINE)


def parse_engine_class(raw: Manifest | bytes) -> FireboltEngineClass:
    return _parse(raw, _ENGINE_CLASS)


def parse_instance(raw: Manifest | bytes) -> FireboltInstance:
    return _parse(raw, _INSTANCE)


def encode_status(status: Status) -> Manifest:
    """The `status` of a status write. Zero and false are written where a column of `kubectl get` shows them."""
    shown: Manifest
    match status:
        case EngineStatus():
            shown = {"replicas": status.replicas, "readyReplicas": status.ready_replicas}
        case EngineClassStatus():
            shown = {"boundEngines": status.bound_engines}
        case InstanceStatus():
            shown = {"metadataReady": status.metadata_ready, "gatewayReady": status.gateway_ready}
    fields: Manifest = msgspec.to_builtins(status, builtin_types=(datetime,))
    return {name: _plain(value) for name, value in (fields | shown).items()}


def format_time(instant: datetime) -> str:
    """RFC 3339 in UTC, in whole seconds: what Kubernetes itself keeps of a time."""
    if instant.tzinfo is None:
        raise RuntimeError(f"a time without a zone: {instant}")
    return _in_utc(instant).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _in_utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:  # the first or last day of all, in a zone that leads beyond it
        return EARLIEST if instant.year == EARLIEST.year else LATEST


def _parse(raw: Manifest | bytes, decoder: "msgspec.json.Decoder[_Kind]") -> _Kind:
    try:
        return decoder.decode(raw) if isinstance(raw, bytes) else msgspec.convert(raw, decoder.type)
    except msgspec.MsgspecError as err:
        raise _rejection(str(err)) from err


def _rejection(message: str) -> SpecRejectedError:
    match = _WHERE.fullmatch(message)
    if match is None:
        return SpecRejectedError("object", message)
    return SpecRejectedError(match["field"] or "object", match["problem"])


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return format_time(value)
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case _:
            return value
