"""Reading the API server's JSON without trusting it to be whole."""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from firebolt_operator.errors import TransientError, UnansweredError
from firebolt_operator.refs import Manifest

_MANIFEST: Final = msgspec.json.Decoder(dict[str, Any])
ITEMS_AT_A_TIME: Final = 100  # at about 50 us an item, the event loop is never held for longer than a few ms

Undecodable: Final = (msgspec.DecodeError, UnicodeDecodeError)


class ListMetadata(msgspec.Struct, frozen=True, rename={"resource_version": "resourceVersion", "token": "continue"}):
    resource_version: str = ""
    token: str = ""


class Listing(msgspec.Struct, frozen=True):
    metadata: ListMetadata
    items: list[msgspec.Raw] | None = None


_LISTING: Final = msgspec.json.Decoder(Listing)


def decode_manifest(doing: str, body: bytes, *, is_write: bool = False) -> Manifest:
    """An unreadable answer to a write is no answer: the write may well have happened."""
    try:
        return _MANIFEST.decode(body)
    except Undecodable as err:
        words = f"{doing}: the answer is not a whole JSON object: {err}"
        raise (UnansweredError if is_write else TransientError)(words) from err


def decode_listing(doing: str, body: bytes) -> Listing:
    try:
        return _LISTING.decode(body)
    except Undecodable as err:
        raise TransientError(f"{doing}: the answer is not a whole list: {err}") from err


async def decode_items(doing: str, items: Iterable[bytes]) -> list[Manifest]:
    """Many manifests, with a pause for everyone else now and then."""
    decoded: list[Manifest] = []
    for count, item in enumerate(items, start=1):
        decoded.append(decode_manifest(doing, item))
        if count % ITEMS_AT_A_TIME == 0:
            await asyncio.sleep(0)
    return decoded
