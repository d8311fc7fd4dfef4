"""How is the agent asked? `/hold` on loopback, by Envoy only; `/metrics` for everybody who watches over it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol

from aiohttp import web

from firebolt_operator.runtime.connections import Limits
from firebolt_operator.runtime.servers import BindAddress, HttpServer
from firebolt_operator.wake.decide.answers import DECISION_HEADER, Answer
from firebolt_operator.wake.decide.capacity import MOST_HOLDS

CLOSING_SECONDS: Final = 2.5  # for holds under way when the process stops; two servers share the pod's grace
# Envoy alone comes there. It must close first, and must never be refused: either way a query skips its hold.
HOLD_LIMITS: Final = Limits(connections=2 * MOST_HOLDS, head_seconds=60.0, idle_seconds=86_400.0)

Ask = Callable[[str], Awaitable[Answer]]


class AnswerRecorder(Protocol):
    def answered(self, decision: str, /) -> None: ...
    def caller_left(self) -> None: ...


def hold_app(ask: Ask, recorder: AnswerRecorder) -> web.Application:
    async def hold(request: web.Request) -> web.Response:
        try:
            answer = await ask(request.query.get("engine", ""))
        except asyncio.CancelledError:
            recorder.caller_left()
            raise
        recorder.answered(answer.decision)
        return _response(answer)

    app = web.Application()
    app.router.add_route("*", "/hold", hold)
    return with_health(app)


def with_health(app: web.Application) -> web.Application:
    app.router.add_get("/healthz", _healthz)
    return app


@asynccontextmanager
async def serving(app: web.Application, address: BindAddress, limits: Limits = HOLD_LIMITS) -> AsyncGenerator[int]:
    """The port it listens on; raises ConfigurationError if that is taken."""
    server = HttpServer("agent", app, address, limits=limits, closing_seconds=CLOSING_SECONDS, is_ended_by_caller=True)
    await server.start()
    try:
        yield server.port
    finally:
        await server.stop()


async def _healthz(_: web.Request) -> web.Response:
    return web.Response()


def _response(answer: Answer) -> web.Response:
    headers = {DECISION_HEADER: answer.decision}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.Response(status=answer.status, text=answer.body, headers=headers)
