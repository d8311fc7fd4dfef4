"""How long is `5m`, `180s` or `1h30m`, as kubectl reads it?"""

import re
from datetime import timedelta
from typing import Final

from kubectl_firebolt.errors import PluginError

_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)")
_WHOLE: Final = re.compile(rf"(?:{_PART.pattern})+")
_LONGEST_TEXT: Final = 40


def parse_duration(flag: str, text: str) -> timedelta:
    if len(text) > _LONGEST_TEXT or _WHOLE.fullmatch(text) is None:
        raise PluginError(f'{flag}: "{text[:_LONGEST_TEXT]}" is not a duration; write it like 180s, 5m or 1h30m')
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return timedelta(seconds=seconds)
