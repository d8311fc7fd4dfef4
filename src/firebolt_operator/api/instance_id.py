"""The identity of an instance: a ULID, so that identities sort by age and never collide.

Newer images want it in lower case, older ones in upper case; a free-form id of a person's is nobody's to rewrite.
"""

import re
from datetime import datetime
from typing import Final

from ulid import ULID

ENTROPY_BYTES: Final = 10
_CROCKFORD: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def mint_instance_id(now: datetime, entropy: bytes, *, is_lower: bool) -> str:
    """26 characters: 48 bits of milliseconds, then 80 random bits."""
    if len(entropy) != ENTROPY_BYTES:
        raise RuntimeError(f"a ULID takes {ENTROPY_BYTES} random bytes, not {len(entropy)}")
    milliseconds = int(now.timestamp() * 1000)
    minted = str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + entropy))
    return canonical_id(minted) if is_lower else minted


def is_ulid(instance_id: str) -> bool:
    return instance_id.isascii() and _CROCKFORD.fullmatch(instance_id.upper()) is not None


def canonical_id(ulid: str) -> str:
    return ulid.lower()


def is_same_id(one: str, other: str) -> bool:
    """An id in another case is the same id."""
    return one.casefold() == other.casefold()
