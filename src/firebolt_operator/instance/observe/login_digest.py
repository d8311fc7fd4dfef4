"""Has what the metadata service reads from Secrets of others changed? A digest tells, and gives nothing away.

It ends up in an annotation that many may read who may not read Secrets. A quick hash of a password could be guessed
from there, word by word: this one takes its time.
"""

import asyncio
import hashlib
from typing import Final

from firebolt_operator.instance.database_login import KEY_PASSWORD, KEY_USERNAME
from firebolt_operator.instance.views import SecretView

COST: Final = 1 << 14  # some fifty milliseconds, and sixteen megabytes
LENGTH: Final = 16


def login_content(credentials: SecretView, authority: SecretView | None, key: str) -> bytes:
    """What counts of the two Secrets: the keys that are mounted, whatever else changes in them."""
    mounted = [credentials.digests.get(KEY_USERNAME, b""), credentials.digests.get(KEY_PASSWORD, b"")]
    if authority is not None:
        mounted.append(authority.digests.get(key, b""))
    return b"".join(mounted)  # each has the same length


async def slow_digest(content: bytes, salt: str) -> str:
    return (await asyncio.to_thread(_derive, content, salt.encode())).hex()


def _derive(content: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(content, salt=salt, n=COST, r=8, p=1, maxmem=64 << 20, dklen=LENGTH)
