"""What is the object really, right now? A live read that the cache learns from."""

from typing import TypeVar

from firebolt_operator.errors import UnreadableError
from firebolt_operator.kube.ports import Reader
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache

T = TypeVar("T")


async def fetch_live(cache: Cache[T], reader: Reader, ref: Ref) -> T | None:
    """Also sees what the cache does not cover; raises UnreadableError for an object that cannot be decoded."""
    since = cache.version((ref.namespace, ref.name))
    body = await reader.get_raw(ref)
    cache.observed(ref, body, since=since)
    if body is None:
        return None
    try:
        return cache.decode(body)
    except UnreadableError as err:
        raise UnreadableError(f"{ref} is there, but cannot be decoded: {err}") from err
