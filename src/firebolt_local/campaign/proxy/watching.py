"""How do events of a watch get to the operator, one line each, unless a fault is meant for one of them?"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import aiohttp
import msgspec
from aiohttp import web

from firebolt_local.campaign.faults.answers import EXPIRED_EVENT
from firebolt_local.campaign.faults.fault import Fault, Harm
from firebolt_local.campaign.faults.requests import BOOKMARK, RequestKind
from firebolt_local.campaign.proxy.recording import Watchman
from firebolt_local.campaign.proxy.upstream import Upstream, hang_up, kept

_OK: Final = 200
_VERSION: Final = "resourceVersion"


class _Type(msgspec.Struct, frozen=True):
    type: str


@dataclass(slots=True)
class WatchRelay:
    upstream: Upstream
    watchman: Watchman
    client: int
    _older: dict[str, str] = field(default_factory=dict[str, str])  # version that the next watch begins at, by scope
    _expired: set[str] = field(default_factory=set[str])  # paths that must be listed before they can be watched

    def listed(self, path: str) -> None:
        """From here on it may be watched again."""
        self._expired.discard(path)

    async def serve(self, request: web.Request, kind: RequestKind) -> web.StreamResponse:
        if request.path in self._expired:
            return await _expired(request)
        self.watchman.watches += 1
        try:
            return await self._relayed(request, kind)
        finally:
            self.watchman.watches -= 1

    async def _relayed(self, request: web.Request, kind: RequestKind) -> web.StreamResponse:
        async with self.upstream.ask(request, path=self._path(request.raw_path)) as answer:
            if answer.status != _OK:
                return web.Response(status=answer.status, headers=kept(answer), body=await answer.read())
            stream = web.StreamResponse(headers=kept(answer))
            stream.enable_chunked_encoding()
            await stream.prepare(request)
            async for line in _lines(answer.content):
                if not await self._deliver(request, stream, kind, line):
                    return stream
            return stream

    async def _deliver(self, request: web.Request, stream: web.StreamResponse, kind: RequestKind, line: bytes) -> bool:
        """Whether the watch goes on."""
        self.watchman.held += 1
        try:
            return await self._met(request, stream, kind, line)
        finally:
            self.watchman.held -= 1

    async def _met(self, request: web.Request, stream: web.StreamResponse, kind: RequestKind, line: bytes) -> bool:
        clock = asyncio.get_running_loop().time
        fault = self.watchman.meet(_named(kind, line), self.client, request.path)
        if fault is not None and fault.harm is Harm.STALE:
            self.watchman.stale_until = clock() + fault.seconds
        await asyncio.sleep(max(0.0, self.watchman.stale_until - clock()))
        if fault is not None and not await self._survives(request, stream, fault):
            return False
        await stream.write(line + b"\n")
        return True

    async def _survives(self, request: web.Request, stream: web.StreamResponse, fault: Fault) -> bool:
        match fault.harm:
            case Harm.LATE:
                await asyncio.sleep(fault.seconds)
            case Harm.CUT | Harm.REPLAY:
                if fault.harm is Harm.REPLAY:
                    scope, version = _scope(request.raw_path)
                    self._older[scope] = version
                hang_up(request)
                return False
            case Harm.EXPIRE:
                self._expired.add(request.path)
                await stream.write(EXPIRED_EVENT + b"\n")
                return False
            case _:
                pass
        return True

    def _path(self, path: str) -> str:
        older = self._older.pop(_scope(path)[0], "")
        return _at_version(path, older) if older else path


async def _expired(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"Content-Type": "application/json"})
    stream.enable_chunked_encoding()
    await stream.prepare(request)
    await stream.write(EXPIRED_EVENT + b"\n")
    return stream


def _named(kind: RequestKind, line: bytes) -> RequestKind:
    is_bookmark = msgspec.json.decode(line, type=_Type).type == "BOOKMARK"
    return RequestKind(kind.verb, kind.kind + BOOKMARK) if is_bookmark else kind


def _scope(path: str) -> tuple[str, str]:
    """What is watched, and from which version on."""
    url = urlsplit(path)
    query = dict(parse_qsl(url.query))
    version = query.pop(_VERSION, "")
    lasting = {name: value for name, value in query.items() if name != "timeoutSeconds"}
    return f"{url.path}?{urlencode(sorted(lasting.items()))}", version


def _at_version(path: str, version: str) -> str:
    url = urlsplit(path)
    query = [(name, version if name == _VERSION else value) for name, value in parse_qsl(url.query)]
    return f"{url.path}?{urlencode(query)}"


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes]:
    """Of any length: the stream's own reader of lines gives up at the size of its buffer."""
    begun = b""
    while chunk := await content.readany():
        *whole, begun = (begun + chunk).split(b"\n")
        for line in whole:
            yield line
