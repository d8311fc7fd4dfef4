"""How does a result look? As a table where it is one, else as it came."""

import json
from typing import Any

from kubectl_firebolt.lists import aligned
from kubectl_firebolt.manifest import Manifest


def parsed(body: str) -> Manifest | None:
    """Columns and rows (JSON_Compact); None if the engine answered with something else."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    is_result = isinstance(found, dict) and isinstance(found.get("meta"), list) and isinstance(found.get("data"), list)
    return found if is_result else None


def table(result: Manifest) -> str:
    titles = [str(column.get("name", "")) for column in result["meta"]]
    return aligned([titles, *([_cell(value) for value in row] for row in result["data"])])


def _cell(value: Any) -> str:
    """One line each, whatever is in it."""
    if value is None:
        return "NULL"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if text.isprintable() else json.dumps(text)
