"""How is a TOML file written? As much of it as the configuration of containerd uses."""

import json
from collections.abc import Iterator, Mapping, Sequence

Value = str | bool | int | Sequence[str]
Table = Mapping[str, "Value | Table"]


def dump(table: Table) -> str:
    return "\n".join(_lines(table, ())) + "\n"


def _lines(table: Table, path: tuple[str, ...]) -> Iterator[str]:
    # Values first: below the heading of a table everything belongs to that table.
    for key, value in table.items():
        if not isinstance(value, Mapping):
            # A string, a number, a boolean or a list of strings reads the same in JSON.
            yield f"{_key(key)} = {json.dumps(value)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            deeper = (*path, key)
            yield f"\n[{'.'.join(map(_key, deeper))}]"
            yield from _lines(value, deeper)


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key)
