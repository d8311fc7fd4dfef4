"""How does a request get to the API server and its answer back, unless a fault is meant for it?"""

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from firebolt_local.campaign.faults.answers import ANSWERED, refusal
from firebolt_local.campaign.faults.fault import Fault, Harm
from firebolt_local.campaign.faults.requests import RequestKind, request_kind
from firebolt_local.campaign.proxy.recording import Watchman
from firebolt_local.campaign.proxy.upstream import Upstream, hang_up, kept
from firebolt_local.campaign.proxy.watching import WatchRelay
from firebolt_local.cluster.ports import LOOPBACK

_MOST_BYTES: Final = 16 << 20
_GRACE_SECONDS: Final = 15.0
"""How long a request of a process that stood still waits for its client's hang-up once the process goes on: long enough
for one that gets little of the processor, since only who never hangs up waits for all of it."""


@dataclass(frozen=True, slots=True)
class FaultProxy:
    """One listener for one process: what comes in here comes from it."""

    upstream: Upstream
    watchman: Watchman
    client: int
    relay: WatchRelay

    async def handle(self, request: web.Request) -> web.StreamResponse:
        kind = request_kind(request.method, request.raw_path)
        if kind.verb == "watch":
            return await self.relay.serve(request, kind)
        if kind.verb == "list":
            self.relay.listed(request.path)
        self.watchman.under_way += 1
        try:
            return await self._serve(request, kind)
        finally:
            self.watchman.under_way -= 1

    async def _serve(self, request: web.Request, kind: RequestKind) -> web.StreamResponse:
        body = await request.read()
        fault = self.watchman.meet(kind, self.client, request.path)
        if fault is None:
            return await self._forward(request, body)
        if fault.harm in ANSWERED:
            code, headers, answer = refusal(fault.harm, fault.seconds)
            return web.json_response(answer, status=code, headers=headers)
        return await self._harmed(request, body, fault)

    async def _harmed(self, request: web.Request, body: bytes, fault: Fault) -> web.StreamResponse:
        match fault.harm:
            case Harm.DELAY:
                await asyncio.sleep(fault.seconds)
                return await self._forward(request, body)
            case Harm.STOP:
                return await self._stopped(request, body, fault)
            case Harm.CUT_AFTER | Harm.KILL_AFTER:
                await self._forward(request, body)
            case _:
                pass
        if fault.harm in {Harm.KILL_BEFORE, Harm.KILL_AFTER}:
            self.watchman.strike(fault)
        return hang_up(request)

    async def _stopped(self, request: web.Request, body: bytes, fault: Fault) -> web.Response:
        """Ended by the client's hang-up, which cancels whoever serves it: the server never sees the request then."""
        watchman = self.watchman
        watchman.strike(fault)
        try:
            await watchman.is_going_on.wait()
            await asyncio.sleep(_GRACE_SECONDS)
            watchman.has_landed = True
            return await self._forward(request, body)
        finally:
            watchman.is_decided.set()

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        async with self.upstream.ask(request, body) as answer:
            return web.Response(status=answer.status, headers=kept(answer), body=await answer.read())


def fault_proxy(upstream: Upstream, watchman: Watchman, client: int = 0) -> FaultProxy:
    return FaultProxy(upstream, watchman, client, WatchRelay(upstream, watchman, client))


@asynccontextmanager
async def listening(proxy: FaultProxy, tls: ssl.SSLContext | None = None) -> AsyncGenerator[str]:
    """Its address, for as long as it is open."""
    # It would tell of every hang-up, which is what this is made for.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
    application = web.Application(client_max_size=_MOST_BYTES)
    application.router.add_route("*", "/{path:.*}", proxy.handle)
    # Cancelled with its client, a request that is still held here is dropped.
    runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0, ssl_context=tls)
        await site.start()
        yield f"{'https' if tls else 'http'}://{LOOPBACK}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
