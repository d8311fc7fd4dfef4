"""Reading the API server's JSON without trusting it to be whole, or to be readable at all."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from firebolt_operator.errors import TransientError, UnansweredError, UnreadableError
from firebolt_operator.kube.set_aside import SetAside, Undecodable, beside, is_readable, outline, split_list
from firebolt_operator.refs import Manifest

_MANIFEST: Final = msgspec.json.Decoder(dict[str, Any])
ITEMS_AT_A_TIME: Final = 100  # at about 50 us an item, the event loop is never held for longer than a few ms

log = logging.getLogger(__name__)


class ListMetadata(msgspec.Struct, frozen=True, rename={"resource_version": "resourceVersion", "token": "continue"}):
    resource_version: str = ""
    token: str = ""


class _Listing(msgspec.Struct, frozen=True):
    metadata: ListMetadata
    items: list[msgspec.Raw] | None = None


_LISTING: Final = msgspec.json.Decoder(_Listing)
_LIST_METADATA: Final = msgspec.json.Decoder(ListMetadata)


async def decode_answer(doing: str, body: bytes, *, is_write: bool = False) -> tuple[bytes, Manifest]:
    """An object as text and decoded, or both of its outline (SetAside) if it cannot be.

    What is not even an outline was cut off; to a write that is no answer, because it may well have happened.
    """
    try:
        return body, _MANIFEST.decode(body)
    except Undecodable as err:
        try:
            kept = await beside(outline, body)
        except ValueError:
            words = f"{doing}: the answer is not a whole JSON object: {err}"
            raise (UnansweredError if is_write else TransientError)(words) from err
        return kept, _MANIFEST.decode(kept)


async def decode_manifest(doing: str, body: bytes) -> Manifest:
    found, manifest = await decode_answer(doing, body)
    if isinstance(found, SetAside):
        raise UnreadableError(f"{doing}: it is there, but cannot be decoded")
    return manifest


async def readable(doing: str, body: bytes) -> bytes:
    """The text as it is, or its outline."""
    if is_readable(body):
        return body
    try:
        return await beside(outline, body)
    except ValueError as err:
        raise TransientError(f"{doing}: the answer is not a whole JSON object: {err}") from err


async def decode_listing(doing: str, body: bytes) -> tuple[ListMetadata, list[bytes]]:
    """The items are readable, each of them; where one is not, its outline stands in its place."""
    try:
        listing = _LISTING.decode(body)
    except Undecodable as err:
        try:
            metadata, items = await beside(split_list, body)
            return _LIST_METADATA.decode(metadata), items
        except (ValueError, RecursionError):
            raise TransientError(f"{doing}: the answer is not a whole list: {err}") from err
    return listing.metadata, [bytes(item) for item in listing.items or ()]


async def decode_items(doing: str, items: Iterable[bytes]) -> list[Manifest]:
    """Many manifests, with a pause for everyone else now and then. What cannot be read is left out, and named."""
    decoded: list[Manifest] = []
    for count, item in enumerate(items, start=1):
        found, manifest = await decode_answer(doing, item)
        if isinstance(found, SetAside):
            metadata: Manifest = manifest.get("metadata") or {}
            key = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
            log.error("object left out: it cannot be decoded", extra={"doing": doing, "key": key})
        else:
            decoded.append(manifest)
        if count % ITEMS_AT_A_TIME == 0:
            await asyncio.sleep(0)
    return decoded
