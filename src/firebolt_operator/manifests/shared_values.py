"""What thousands of objects say alike is kept once: most of what we render differs from engine to engine by a name.

Whatever is in a cache is shared by its readers already, and changed by none of them.
"""

import sys
from functools import lru_cache
from typing import Any, Final

import msgspec

from firebolt_operator.refs import Manifest

MOST_REMEMBERED: Final = 1_024  # whoever fills it with what nobody else says costs the others memory, and no more
LONGEST_VALUE: Final = 512  # bytes of JSON
LONGEST_TEXT: Final = 64
LONGEST_SHARED: Final = 8_192  # bytes: what we own of a usual StatefulSet has three thousand


def shared_values(said: Manifest) -> Manifest:
    return {name: _shared(value) for name, value in said.items()}


def shared_text(text: bytes) -> bytes:
    return _same(text) if len(text) <= LONGEST_SHARED else text


def _shared(value: Any) -> Any:
    if isinstance(value, str):
        return sys.intern(value) if len(value) <= LONGEST_TEXT else value
    if not isinstance(value, dict | list):
        return value
    text = msgspec.json.encode(value)
    return _decoded(text) if len(text) <= LONGEST_VALUE else value


@lru_cache(maxsize=MOST_REMEMBERED)
def _same(text: bytes) -> bytes:
    return text


@lru_cache(maxsize=MOST_REMEMBERED)
def _decoded(text: bytes) -> Any:
    return msgspec.json.decode(text)
