"""What is the object really, right now? A live read that the cache learns from."""

from typing import TypeVar

from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache

T = TypeVar("T")


async def fetch_live(cache: Cache[T], reader: Reader, ref: Ref) -> T | None:
    """Also sees what the cache does not cover; raises what the projection raises for an object it cannot read."""
    since = cache.version((ref.namespace, ref.name))
    body = await reader.get_raw(ref)
    cache.observed(ref, body, since=since)
    return None if body is None else cache.decode(body)
