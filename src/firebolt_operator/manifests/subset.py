"""Does a live object already say everything that we would write? Then the write can be left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from firebolt_operator.api.quantities import is_same_quantity

QUANTITY_PARENTS = frozenset({"requests", "limits", "capacity", "overhead"})
QUANTITY_FIELDS = frozenset({"sizeLimit"})


def is_subset(wanted: Any, live: Any) -> bool:
    """Every field of `wanted` has the same value in `live`; what `live` has besides is none of our business.

    Lists must have the same length, and each element must be a subset of its counterpart.
    """
    return _matches(wanted, live, key="", parent="")


def _matches(wanted: Any, live: Any, *, key: str, parent: str) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            _matches(value, live.get(name), key=str(name), parent=key) for name, value in wanted.items()
        )
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return _matches_list(wanted, live, key=key)
    if wanted == live and isinstance(wanted, bool) == isinstance(live, bool):
        return True
    return (parent in QUANTITY_PARENTS or key in QUANTITY_FIELDS) and _is_same_amount(wanted, live)


def _matches_list(wanted: Sequence[Any], live: Any, *, key: str) -> bool:
    if not isinstance(live, Sequence) or isinstance(live, str):
        # An empty list is stored as an absent one.
        return len(wanted) == 0 and live is None
    return len(wanted) == len(live) and all(
        _matches(mine, theirs, key=key, parent=key) for mine, theirs in zip(wanted, live, strict=True)
    )


def _is_same_amount(wanted: Any, live: Any) -> bool:
    if not isinstance(wanted, int | str) or not isinstance(live, int | str):
        return False
    try:
        return is_same_quantity(wanted, live)
    except ValueError:
        return False
