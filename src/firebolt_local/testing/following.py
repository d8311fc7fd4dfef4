"""What happens to the objects of one scope, from now on and without a gap?"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.kube.ports import EventType, Page, Scope, WatchEvent
from firebolt_operator.refs import Manifest

_AGAIN_AFTER_SECONDS = 0.5
Seen = Callable[[EventType, Manifest], None]


class ListsAndWatches(Protocol):
    def pages(self, scope: Scope, /) -> AsyncGenerator[Page]: ...
    def watch(self, scope: Scope, /, *, resource_version: str) -> AsyncGenerator[WatchEvent]: ...


async def follow(reader: ListsAndWatches, scope: Scope, seen: Seen) -> None:
    """For ever. An API server that is away for a moment, or has forgotten a version, is asked anew."""
    known: dict[str, Manifest] = {}
    while True:
        try:
            await _follow_once(reader, scope, seen, known)
        except (ExpiredError, TransientError):
            await asyncio.sleep(_AGAIN_AFTER_SECONDS)


async def _follow_once(reader: ListsAndWatches, scope: Scope, seen: Seen, known: dict[str, Manifest]) -> None:
    version, found = "", dict[str, Manifest]()
    async for page in reader.pages(scope):
        version = page.resource_version
        found |= {_uid(manifest): manifest for manifest in map(_decoded, page.items)}
    for uid in known.keys() - found.keys():
        seen("DELETED", known[uid])
    for manifest in found.values():
        seen("MODIFIED", manifest)
    known.clear()
    known.update(found)
    async with aclosing(reader.watch(scope, resource_version=version)) as events:
        async for event in events:
            if event.type != "BOOKMARK":
                _take(event.type, _decoded(event.body), seen, known)


def _take(kind: EventType, manifest: Manifest, seen: Seen, known: dict[str, Manifest]) -> None:
    seen(kind, manifest)
    if kind == "DELETED":
        known.pop(_uid(manifest), None)
        return
    known[_uid(manifest)] = manifest


def _decoded(body: bytes) -> Manifest:
    manifest: Manifest = json.loads(body)
    return manifest


def _uid(manifest: Manifest) -> str:
    uid: str = manifest["metadata"]["uid"]
    return uid
