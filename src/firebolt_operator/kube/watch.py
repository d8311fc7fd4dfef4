"""What happens to the objects of a scope from now on? One watch request, from its start to its end."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

import aiohttp
import msgspec

from firebolt_operator.errors import TransientError
from firebolt_operator.kube.paths import list_path
from firebolt_operator.kube.ports import EventType, Scope, WatchEvent
from firebolt_operator.kube.set_aside import Undecodable, beside, split_cut_event, split_event
from firebolt_operator.kube.translate import refusal, silence, watch_error
from firebolt_operator.kube.transport import ANSWER_LIMIT, Call, Lane, Transport

SILENCE_SECONDS: Final = 180.0  # most servers send a bookmark every minute, some only every ten


class _Event(msgspec.Struct, frozen=True):
    type: EventType | str
    object: msgspec.Raw


_DECODER: Final = msgspec.json.Decoder(_Event)


async def watch_events(
    transport: Transport, scope: Scope, *, resource_version: str, lasting_seconds: int
) -> AsyncGenerator[WatchEvent]:
    """Ends without an error when the server ends it or is silent for long; ExpiredError: the version is too old."""
    doing = f"watching {scope}"
    stream = await _opened(transport, doing, scope, resource_version, lasting_seconds)
    try:
        async for line in _lines(doing, stream.content):
            whole = None if isinstance(line, _CutLine) else _event(doing, line)
            yield whole or await _event_taken_apart(doing, line)
    finally:
        _hang_up(stream)


def _hang_up(stream: aiohttp.ClientResponse) -> None:
    """At once: TLS would wait for the peer's goodbye, and a watch is often left because the peer is gone."""
    if stream.connection is not None and stream.connection.transport is not None:
        stream.connection.transport.abort()
    stream.close()


async def _opened(
    transport: Transport, doing: str, scope: Scope, resource_version: str, lasting_seconds: int
) -> aiohttp.ClientResponse:
    query = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": resource_version,
        "timeoutSeconds": str(lasting_seconds),
    }
    path = list_path(scope, query)
    call = Call(
        doing=doing,
        method="GET",
        verb="watch",
        path=path,
        resource=scope.resource.plural,
        lane=Lane.UNLIMITED,
        is_stream=True,
    )
    answer = await transport.exchange(call)
    if answer.stream is None:
        raise refusal(doing, answer.code, answer.body, is_write=False)
    return answer.stream


class _CutLine(bytes):
    """The beginning of a line that is too long to be kept."""

    __slots__ = ()


async def _lines(doing: str, content: aiohttp.StreamReader) -> AsyncGenerator[bytes]:
    """Lines of any sensible length; aiohttp's own readline gives up at its buffer size."""
    begun, room = list[bytes](), ANSWER_LIMIT
    while chunk := await _next_chunk(doing, content):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            begun.append(end[: max(room, 0)])
            yield (bytes if len(end) <= room else _CutLine)(b"".join(begun))
            begun, room = [], ANSWER_LIMIT
        begun.append(rest[: max(room, 0)])
        room -= len(rest)
    if any(begun):
        raise TransientError(f"{doing}: the stream ended in the middle of an event")


async def _next_chunk(doing: str, content: aiohttp.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(SILENCE_SECONDS):
            return await content.readany()
    except TimeoutError:
        # Nothing to tell, or nobody there any more? Opening it again finds out, and loses nothing in either case.
        return b""
    except (aiohttp.ClientError, OSError) as err:
        raise silence(doing, err, may_have_happened=False) from err


def _event(doing: str, line: bytes) -> WatchEvent | None:
    """None if it cannot be decoded."""
    try:
        event = _DECODER.decode(line)
    except Undecodable:
        return None
    return _meant(doing, event.type, bytes(event.object))


async def _event_taken_apart(doing: str, line: bytes) -> WatchEvent:
    """One object that cannot be decoded must not end the watch of all others."""
    try:
        kind, body = await beside(split_cut_event if isinstance(line, _CutLine) else split_event, line)
    except ValueError as err:
        raise TransientError(f"{doing}: an event is not JSON: {err}") from err
    return _meant(doing, kind, body)


def _meant(doing: str, kind: EventType | str, body: bytes) -> WatchEvent:
    match kind:
        case "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK":
            return WatchEvent(kind, body)
        case "ERROR":
            raise watch_error(doing, body)
        case _:
            raise TransientError(f"{doing}: an event of unknown type {kind!r}")
