"""How do our kinds come off the wire, and how does their status go back onto it?"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import Model, StatusModel
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.refs import Manifest

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
LATEST: Final = datetime.max.replace(tzinfo=UTC)
_WHERE: Final = re.compile(r"(?P<problem>.*) - at `\$\.?(?P<field>.*)`", re.DOTALL)

M = TypeVar("M", bound=Model)


def parser(model: type[M]) -> Callable[[Manifest | bytes], M]:
    """Reads one kind; raises SpecRejectedError."""
    decoder = msgspec.json.Decoder(model)

    def parse(raw: Manifest | bytes) -> M:
        try:
            return decoder.decode(raw) if isinstance(raw, bytes) else msgspec.convert(raw, model)
        except msgspec.MsgspecError as err:
            raise _rejection(str(err)) from err

    return parse


parse_engine: Final = parser(FireboltEngine)
parse_engine_class: Final = parser(FireboltEngineClass)
parse_engine_preset: Final = parser(FireboltEnginePreset)
parse_cluster_engine_class: Final = parser(ClusterFireboltEngineClass)
parse_instance: Final = parser(FireboltInstance)


def encode_status(status: StatusModel) -> Manifest:
    """The `status` of a status write."""
    fields: Manifest = msgspec.to_builtins(status, builtin_types=(datetime,))
    shown = {wire: getattr(status, name) for name, wire in _always_shown(type(status))}
    return {name: _plain(value) for name, value in (fields | shown).items()}


@cache
def _always_shown(kind: type[StatusModel]) -> tuple[tuple[str, str], ...]:
    """Our names and those on the wire; looking them up takes longer than all the rest of a status."""
    wire = {field.name: field.encode_name for field in msgspec.structs.fields(kind)}
    return tuple((name, wire[name]) for name in kind.always_shown)


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
