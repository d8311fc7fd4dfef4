"""What does the web UI beside an engine serve? A page, and the way from that page to the engine.

The engine's address is the pod's own, so the browser cannot reach it: queries go through this server.
"""

import argparse
import asyncio
import logging
import os
import signal
from collections.abc import Sequence
from importlib import resources
from typing import Final

import aiohttp
from aiohttp import web

from firebolt_local.standins.environment import listen_address, whole_number
from firebolt_local.standins.log_lines import start_logging

CORE_URL: Final = "FIREBOLT_CORE_URL"
PORT: Final = 9100
CHUNK_BYTES: Final = 65_536
_PAGE: Final = resources.files("firebolt_local.standins.ui").joinpath("page.html").read_bytes()

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    argparse.ArgumentParser(prog="ui", description="A stand-in for Firebolt's web UI.").parse_args(argv)
    start_logging(as_json=True)
    return asyncio.run(serve(os.environ.get(CORE_URL, "http://localhost:3473")))


async def serve(core_url: str) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    # No total limit: how long a query may take is its sender's business.
    patience = aiohttp.ClientTimeout(total=None, sock_connect=5)
    async with aiohttp.ClientSession(timeout=patience) as session:
        runner = web.AppRunner(_app(session, core_url), handler_cancellation=True, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, listen_address(), whole_number("STANDIN_UI_PORT", PORT)).start()
        log.info("stand-in for the UI image, engine at %s", core_url)
        await stop.wait()
        await runner.cleanup()
    return 0


def _app(session: aiohttp.ClientSession, core_url: str) -> web.Application:
    async def page(_: web.Request) -> web.Response:
        return web.Response(body=_PAGE, content_type="text/html", charset="utf-8")

    async def query(request: web.Request) -> web.StreamResponse:
        try:
            return await _relay(request, session, core_url)
        except aiohttp.ClientError as err:
            return web.Response(status=502, text=f"the engine does not answer: {err}\n")

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_post("/query", query)
    return app


async def _relay(request: web.Request, session: aiohttp.ClientSession, core_url: str) -> web.StreamResponse:
    async with session.post(core_url, data=await request.read(), params=request.query) as answer:
        response = web.StreamResponse(status=answer.status, headers={"Content-Type": answer.content_type})
        await response.prepare(request)
        async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
            await response.write(chunk)
        await response.write_eof()
        return response
