"""Does an engine's configuration file fit into a ConfigMap?

The file is indented, so that its length depends on how deeply it is nested: half a mebibyte may become hundreds. Hence
it is measured before anybody writes it, without recursion, and only until it is known to be too long.
"""

from collections.abc import Mapping
from itertools import chain, takewhile
from typing import Any, Final

import msgspec

from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.refs import Manifest

MOST_BYTES: Final = 1_048_576
"""What a ConfigMap holds. The operator's own few lines are left out: what fits has never been refused."""
INDENT: Final = 2
NOTHING: Final[Manifest] = {}


def check_config_size(config: Manifest | None, inherited: Mapping[str, Manifest], path: Path) -> list[FieldError]:
    """Of a custom configuration over those that it inherits, the lowest first, each under a word for where it is."""
    if not _is_too_long((*inherited.values(), config or NOTHING)):
        return []
    merged = f" together with that of its {' and its '.join(reversed(list(inherited)))}" if inherited else ""
    detail = f"becomes{merged} a file of more than the 1 MiB that a ConfigMap holds; shorten it, or nest it less"
    return [forbidden(path, detail)]


def _is_too_long(layers: tuple[Manifest, ...]) -> bool:
    """Level by level, because much can be counted at once; a float may come out a byte shorter than it is written."""
    total, depth = 0, 0
    level: list[Any] = [_opened(_merged([each for each in layers if each] or [NOTHING]))]
    while level and total <= MOST_BYTES:
        objects = [each for each in level if isinstance(each, dict)]
        names = list(chain.from_iterable(objects))
        values = list(chain(*(each.values() for each in objects), *(each for each in level if isinstance(each, list))))
        # The brackets, and what stands before the second one of those that are not empty.
        total += 2 * len(level) + INDENT * depth * sum(map(bool, level))
        depth += 1
        # The lines of all that is in them, with the separator or the line after each.
        total += len(values) * (INDENT * depth + 2) + _lengths(names) + 2 * len(names)
        total += _lengths([each for each in values if not isinstance(each, CONTAINERS)])
        level = [_opened(each) for each in values if isinstance(each, CONTAINERS)]
    return total > MOST_BYTES


def _lengths(scalars: list[Any]) -> int:
    """Of all of them as JSON, without what a list adds."""
    return len(msgspec.json.encode(scalars)) - len(scalars) - 1 if scalars else 0


class _Layers:
    """Objects over one another, the lowest first, which are merged key by key when it is their turn."""

    __slots__ = ("layers",)

    def __init__(self, layers: list[Manifest]) -> None:
        self.layers = layers

    def merged(self) -> Manifest:
        names = {name: None for layer in self.layers for name in layer}
        return {name: _merged([layer[name] for layer in self.layers if name in layer]) for name in names}


CONTAINERS: Final = (dict, list, _Layers)


def _merged(values: list[Any]) -> Any:
    """What is no object hides all that is below it."""
    objects = list(takewhile(lambda value: isinstance(value, dict), reversed(values)))
    return _Layers(objects[::-1]) if len(objects) > 1 else values[-1]


def _opened(container: Any) -> Any:
    return container.merged() if isinstance(container, _Layers) else container
