"""How do engines, presets and instances look as a table, as names, as JSON, as YAML?"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import yaml

from kubectl_firebolt import names
from kubectl_firebolt.manifest import Manifest, condition_of, name_of, spec_of, status_of

_GAP: Final = " " * 3


class Format(StrEnum):
    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    value: Callable[[Manifest], str]


@dataclass(frozen=True, slots=True)
class Listing:
    resource: str
    columns: Sequence[Column]
    wide_columns: Sequence[Column]


def ready_word(manifest: Manifest) -> str:
    ready = condition_of(manifest, names.CONDITION_READY)
    return "" if ready is None else str(ready.get("status", "")).lower()


def _phase(manifest: Manifest) -> str:
    return str(status_of(manifest).get("phase", ""))


def _spec(field: str) -> Callable[[Manifest], str]:
    return lambda manifest: str(spec_of(manifest).get(field, ""))


_NAME: Final = Column("NAME", name_of)
_PHASE: Final = Column("PHASE", _phase)
_READY: Final = Column("READY", ready_word)
_INSTANCE: Final = Column("INSTANCE", _spec("instanceRef"))
_CLASS: Final = Column("CLASS", _spec("engineClassRef"))
_BOUND: Final = Column("BOUND", lambda manifest: str(status_of(manifest).get("boundEngines", "")))
_REPLICAS: Final = Column("REPLICAS", _spec("replicas"))

ENGINES: Final = Listing(
    "fireboltengine",
    (_NAME, _INSTANCE, _PHASE, _READY),
    (_NAME, _INSTANCE, _CLASS, _REPLICAS, _PHASE, _READY),
)
INSTANCES: Final = Listing("fireboltinstance", (_NAME, _PHASE, _READY), (_NAME, _PHASE, _READY))

PRESETS: Final = Listing("fireboltenginepreset", (_NAME, _BOUND, _READY), (_NAME, _BOUND, _READY))


def listed(listing: Listing, items: Sequence[Manifest], form: Format) -> str:
    match form:
        case Format.TABLE:
            return _table(listing.columns, items)
        case Format.WIDE:
            return _table(listing.wide_columns, items)
        case Format.NAME:
            return "\n".join(f"{listing.resource}/{name_of(item)}" for item in items)
        case Format.JSON | Format.YAML:
            return document(_kubectl_list(items), form)


def document(content: Manifest, form: Format) -> str:
    if form is Format.JSON:
        return json.dumps(content, indent=2)
    return as_yaml(content).rstrip()


def as_yaml(content: Manifest) -> str:
    text: str = yaml.safe_dump(content, default_flow_style=False, allow_unicode=True, sort_keys=True, width=10_000)
    return text


def _kubectl_list(items: Sequence[Manifest]) -> Manifest:
    return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": list(items)}


def _table(columns: Sequence[Column], items: Sequence[Manifest]) -> str:
    rows = [[column.title for column in columns]]
    return aligned([*rows, *([column.value(item) or "-" for column in columns] for item in items)])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what is in them, the first row included."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
