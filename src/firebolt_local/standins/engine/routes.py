"""What does an engine serve under which path? Queries to those who are let in, the rest to everybody."""

from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
from aiohttp import web

from firebolt_local.standins.engine.activity import Activity, exposition
from firebolt_local.standins.engine.auth import endpoints
from firebolt_local.standins.engine.auth.gate import Gate, fetcher, tell_user, trusted_providers
from firebolt_local.standins.engine.auth.local_server import resource_of
from firebolt_local.standins.engine.config import Config
from firebolt_local.standins.engine.queries import Queries
from firebolt_local.standins.engine.security import Security

MAX_QUERY_BYTES: Final = 64 * 2**20
_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def query_app(
    config: Config, security: Security, activity: Activity, queries: Queries, session: aiohttp.ClientSession
) -> web.Application:
    """`session` is for asking providers."""
    instance, local = config.instance, security.local
    auth = instance.auth if local is not None else None
    app: web.Application = health_app(activity)
    handler: Handler = queries.answer
    app.router.add_get(
        endpoints.DESCRIPTION_PATH, endpoints.description_handler(instance.id, auth, resource_of(instance.id))
    )
    if local is not None and auth is not None:
        handler = _guarded(Gate(local, trusted_providers(auth, fetcher(session))), handler)
        app.on_response_prepare.append(tell_user)
        app.router.add_post(endpoints.TOKEN_PATH, endpoints.token_handler(local))
        app.router.add_get(endpoints.KEYS_PATH, endpoints.keys_handler(local))
    app.router.add_route("*", "/", handler)
    return app


def _guarded(gate: Gate, handler: Handler) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return await gate.let_in(request) or await handler(request)

    return answer


def health_app(activity: Activity) -> web.Application:
    async def live(_: web.Request) -> web.Response:
        return web.Response(text="live\n")

    async def ready(_: web.Request) -> web.Response:
        return web.Response(text="ready\n") if activity.is_ready else web.Response(status=503, text="not ready\n")

    app = _app(activity)
    app.router.add_get("/health/live", live)
    app.router.add_get("/health/ready", ready)
    return app


def metrics_app(activity: Activity) -> web.Application:
    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=exposition(activity).encode(), headers={"Content-Type": _METRICS_TYPE})

    app = _app(activity)
    app.router.add_get("/metrics", metrics)
    return app


def _app(activity: Activity) -> web.Application:
    @web.middleware
    async def close_while_stopping(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if activity.is_stopping and not response.prepared:
            response.force_close()
        return response

    return web.Application(middlewares=[close_while_stopping], client_max_size=MAX_QUERY_BYTES)
