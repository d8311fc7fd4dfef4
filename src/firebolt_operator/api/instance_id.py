"""The identity of a new instance: a ULID, so that identities sort by age and never collide."""

from datetime import datetime

from ulid import ULID

ENTROPY_BYTES = 10


def mint_instance_id(now: datetime, entropy: bytes) -> str:
    """26 characters: 48 bits of milliseconds, then 80 random bits."""
    if len(entropy) != ENTROPY_BYTES:
        raise RuntimeError(f"a ULID takes {ENTROPY_BYTES} random bytes, not {len(entropy)}")
    milliseconds = int(now.timestamp() * 1000)
    return str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + entropy))
