"""Which fields does a schema have? Every one that can be set, down to those of what stands in lists."""

from collections.abc import Iterator
from dataclasses import dataclass

from firebolt_operator.refs import Manifest

ITEM = "[]"
_LEAF_MARKS = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string")


@dataclass(frozen=True, slots=True)
class Field:
    path: tuple[str, ...]  # "[]" is the first of a list
    schemas: tuple[Manifest, ...]  # of each step of the path, outermost first

    @property
    def schema(self) -> Manifest:
        return self.schemas[-1]

    def __str__(self) -> str:
        return ".".join(self.path)


def fields(schema: Manifest, path: tuple[str, ...] = (), above: tuple[Manifest, ...] = ()) -> Iterator[Field]:
    """Objects and lists themselves, too: they can be emptied and removed."""
    here = (*above, schema)
    if path:
        yield Field(path, here[1:])
    if any(schema.get(mark) for mark in _LEAF_MARKS):
        return
    for name, inner in (schema.get("properties") or {}).items():
        yield from fields(inner, (*path, name), here)
    if schema.get("type") == "array" and schema["items"].get("type") == "object":
        yield from fields(schema["items"], (*path, ITEM), here)
