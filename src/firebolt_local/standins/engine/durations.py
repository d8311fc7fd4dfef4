"""What span of time does a text in an engine's file mean? Numbers with units, one after the other; `d` is 24 hours."""

import re
from datetime import timedelta
from typing import Final

from firebolt_local.standins.strict_files import ConfigError

_PART: Final = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)(?P<unit>[^\d.]+)")
_SECONDS: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,  # micro sign
    "\u03bcs": 1e-6,  # Greek mu
    "ms": 1e-3,
    "s": 1,
    "m": 60,
    "h": 3600,
    "d": 86_400,
}


def parse_duration(text: str) -> timedelta:
    """`55s`, `1m30s`, `1d12h`, `0.5d`; a sign holds for the whole."""
    body = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    parts = list(_PART.finditer(body))
    is_whole = "".join(part[0] for part in parts) == body and all(part["unit"] in _SECONDS for part in parts)
    if body == "0":
        return timedelta()
    if not body or not is_whole:
        raise ConfigError(f"not a duration: {text!r}")
    total = sum(float(part["number"]) * _SECONDS[part["unit"]] for part in parts)
    return timedelta(seconds=-total if text.startswith("-") else total)
