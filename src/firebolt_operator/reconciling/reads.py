"""What is there under a name? The cache tells, and the server where the cache cannot be trusted to know.

Raises UnreadableError where something is there that cannot be decoded: it must not pass for missing.
"""

from typing import TypeVar

from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live

T = TypeVar("T")


async def known_or_live(cache: Cache[T], reader: Reader, ref: Ref) -> T | None:
    """Live after a write that nobody answered; else what the cache holds."""
    if cache.is_suspect((ref.namespace, ref.name)):
        return await fetch_live(cache, reader, ref)
    return cache.known((ref.namespace, ref.name))


async def confirmed(cache: Cache[T], reader: Reader, ref: Ref) -> T | None:
    """None only on the server's own word: a filtered cache knows nothing of objects that are somebody else's."""
    known = await known_or_live(cache, reader, ref)
    if known is not None:
        return known
    return await fetch_live(cache, reader, ref)
