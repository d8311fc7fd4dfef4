"""How is the agent asked? `/hold` on loopback, by Envoy only; `/metrics` for everybody who watches over it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, Protocol

from aiohttp import web

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.decide.answers import DECISION_HEADER, Answer

CLOSING_SECONDS: Final = 2.5  # for holds under way when the process stops; two servers share the pod's grace
HOLD_IDLE_SECONDS: Final = 86_400.0  # Envoy must close first: a connection that closes under it skips the hold
METRICS_IDLE_SECONDS: Final = 75.0  # anybody may connect there: nobody keeps a connection for nothing
BACKLOG: Final = 1024  # a burst of holds; a connection that is refused skips the hold as well

Ask = Callable[[str], Awaitable[Answer]]


class AnswerRecorder(Protocol):
    def answered(self, decision: str, seconds: float, /) -> None: ...
    def caller_left(self) -> None: ...


def hold_app(ask: Ask, recorder: AnswerRecorder, clock: Clock) -> web.Application:
    async def hold(request: web.Request) -> web.Response:
        began_at = clock.monotonic()
        try:
            answer = await ask(request.query.get("engine", ""))
        except asyncio.CancelledError:
            recorder.caller_left()
            raise
        recorder.answered(answer.decision, clock.monotonic() - began_at)
        return _response(answer)

    app = web.Application()
    app.router.add_route("*", "/hold", hold)
    return with_health(app)


def with_health(app: web.Application) -> web.Application:
    app.router.add_get("/healthz", _healthz)
    return app


@asynccontextmanager
async def serving(
    app: web.Application, address: BindAddress, idle_seconds: float = HOLD_IDLE_SECONDS
) -> AsyncGenerator[int]:
    """The port it listens on; raises ConfigurationError if that is taken."""
    runner = web.AppRunner(
        app,
        access_log=None,
        handler_cancellation=True,  # a caller that hangs up ends its hold
        keepalive_timeout=idle_seconds,
        shutdown_timeout=CLOSING_SECONDS,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, address.host, address.port, backlog=BACKLOG)
        try:
            await site.start()
        except OSError as err:
            raise ConfigurationError(f"cannot listen on {address.host}:{address.port}: {err}") from err
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


async def _healthz(_: web.Request) -> web.Response:
    return web.Response()


def _response(answer: Answer) -> web.Response:
    headers = {DECISION_HEADER: answer.decision}
    if answer.retry_after is not None:
        headers["Retry-After"] = str(answer.retry_after)
    return web.Response(status=answer.status, text=answer.body, headers=headers)
