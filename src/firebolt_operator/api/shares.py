"""How many of something, or what share of it: as in a PodDisruptionBudget."""

import re
from typing import Final

from firebolt_operator.api.engine_settings import MOST_REPLICAS

_SHARE: Final = re.compile(r"(100|[1-9]?[0-9])%", re.ASCII)


def share_problem(value: int | str) -> str:
    """What is wrong with it; empty where nothing is."""
    if isinstance(value, int):
        return "" if 0 <= value <= MOST_REPLICAS else f"must be between 0 and {MOST_REPLICAS}"
    return "" if _SHARE.fullmatch(value) else 'must be a number of pods, such as 1, or a share of them, such as "25%"'
