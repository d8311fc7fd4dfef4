"""Which time zone does a name mean?"""

import re
from datetime import tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from firebolt_operator.api.texts import MOST_CHARACTERS

ZONE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*+(?:/[A-Za-z][A-Za-z0-9_+-]*+)*+")


def time_zone(name: str) -> tzinfo | None:
    """None for a name that nobody knows: a typo must never stop an engine."""
    # The standard library makes paths and names of modules from it, and `__init__/x` is no package.
    is_name = len(name) <= MOST_CHARACTERS and ZONE_NAME.fullmatch(name) is not None
    return _time_zone(name) if is_name else None


@lru_cache(maxsize=64)
def _time_zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
