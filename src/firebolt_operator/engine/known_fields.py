"""Is a field of a live pod template one that we know?

A newer API server may fill in fields of its own; taking those for drift would roll every engine without end.
"""

from functools import lru_cache
from typing import Any

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.engine.comparison import Element, Path


def is_known_field(path: Path) -> bool:
    """The path starts at the pod template."""
    return _is_known(tuple(None if isinstance(step, Element) else step for step in path))


@lru_cache(maxsize=1024)
def _is_known(steps: tuple[str | None, ...]) -> bool:
    node: Any = pod_template_schema()
    for step in steps:
        if node.get("x-kubernetes-preserve-unknown-fields"):
            return True
        node = node.get("items") if step is None else _property(node, step)
        if node is None:
            return False
    return True


def _property(node: dict[str, Any], name: str) -> Any:
    return node.get("properties", {}).get(name) or node.get("additionalProperties")
