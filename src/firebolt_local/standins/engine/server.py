"""What does an engine serve on which port, and how does it end?"""

import asyncio
import logging
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiohttp import web

from firebolt_local.standins.engine.activity import Activity, exposition
from firebolt_local.standins.engine.cluster import wait_until_formed
from firebolt_local.standins.engine.config import Config, Tls
from firebolt_local.standins.engine.database import Database
from firebolt_local.standins.engine.door import Door
from firebolt_local.standins.engine.queries import Queries
from firebolt_local.standins.environment import whole_number

HEALTH_PORT: Final = 8122
METRICS_PORT: Final = 9090
QUERY_SLOTS: Final = 64
MAX_QUERY_BYTES: Final = 64 * 2**20
EXIT_QUERIES_CUT: Final = 1
LAST_WORDS_SECONDS: Final = 2
_METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    query: int
    health: int
    metrics: int


async def serve(config: Config, data_dir: Path) -> int:
    """Until SIGTERM; answers the exit code."""
    activity = Activity()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, activity.stop)
    # Named after the pod: pods that share a folder of their node must not share a file.
    database = Database(data_dir / f"{socket.gethostname()}.duckdb")
    queries = Queries(database, activity, slots=whole_number("STANDIN_QUERY_SLOTS", QUERY_SLOTS))
    ports = _ports(config)
    doors = await _start_listeners(config, ports, activity, queries)
    try:
        async with asyncio.TaskGroup() as group:
            forming = group.create_task(_form(config, ports, activity), name="cluster")
            await activity.stopping.wait()
            forming.cancel()
        return await _drain(config, activity, doors)
    finally:
        for door in doors:
            await door.runner.cleanup()
        queries.close()
        database.close()


def _ports(config: Config) -> Ports:
    return Ports(
        query=whole_number("STANDIN_QUERY_PORT", config.query_listener.port),
        health=whole_number("STANDIN_HEALTH_PORT", HEALTH_PORT),
        metrics=whole_number("STANDIN_METRICS_PORT", METRICS_PORT),
    )


async def _form(config: Config, ports: Ports, activity: Activity) -> None:
    hosts = [node.host for node in config.engine.nodes]
    endpoint = config.instance.multi_engine.metadata_endpoint
    await wait_until_formed(endpoint, hosts, health_port=ports.health)
    activity.is_formed = True
    log.info("cluster of %d formed, ready", len(hosts))


async def _drain(config: Config, activity: Activity, doors: list[Door]) -> int:
    log.info("stopping, %d queries to finish", activity.admitted)
    try:
        async with asyncio.timeout(config.grace_period.total_seconds()):
            await activity.idle.wait()
    except TimeoutError:
        log.warning("cutting %d queries off: they outlast the grace period", activity.admitted)
        return EXIT_QUERIES_CUT
    await doors[0].close(patience_seconds=whole_number("STANDIN_LAST_WORDS_SECONDS", LAST_WORDS_SECONDS))
    log.info("drained")
    return 0


async def _start_listeners(config: Config, ports: Ports, activity: Activity, queries: Queries) -> list[Door]:
    """The query port comes first."""
    live, ready, metrics = _health_handlers(activity)
    health: dict[str, Handler] = {"/health/live": live, "/health/ready": ready}
    query_app = _app(activity, health)
    query_app.router.add_route("*", "/", queries.answer)
    tls = config.query_listener.tls
    return [
        await Door.opened(query_app, ports.query, None if tls is None else _tls_context(tls)),
        await Door.opened(_app(activity, health), ports.health),
        await Door.opened(_app(activity, {"/metrics": metrics}), ports.metrics),
    ]


def _health_handlers(activity: Activity) -> tuple[Handler, Handler, Handler]:
    async def live(_: web.Request) -> web.Response:
        return web.Response(text="live\n")

    async def ready(_: web.Request) -> web.Response:
        return web.Response(text="ready\n") if activity.is_ready else web.Response(status=503, text="not ready\n")

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=exposition(activity).encode(), headers={"Content-Type": _METRICS_TYPE})

    return live, ready, metrics


def _app(activity: Activity, handlers: dict[str, Handler]) -> web.Application:
    @web.middleware
    async def close_while_stopping(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await handler(request)
        if activity.is_stopping and not response.prepared:
            response.force_close()
        return response

    app = web.Application(middlewares=[close_while_stopping], client_max_size=MAX_QUERY_BYTES)
    for path, handler in handlers.items():
        app.router.add_get(path, handler)
    return app


def _tls_context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate_file, tls.private_key_file)
    return context
