"""Who may read /metrics, and over which transport?"""

from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web

from firebolt_operator.runtime.scrape_access import ScrapeAccess

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Render = Callable[[], Awaitable[bytes]]


def metrics_app(render: Render, access: ScrapeAccess | None) -> web.Application:
    """Without `access` everybody may read."""

    async def answer(request: web.Request) -> web.Response:
        if access is not None:
            await access.check(request)
        return web.Response(body=await render(), headers={"Content-Type": CONTENT_TYPE})

    app = web.Application()
    app.router.add_get("/metrics", answer)
    return app
