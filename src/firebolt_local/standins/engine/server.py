"""Where does an engine listen, and how does it end?"""

import asyncio
import logging
import signal
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp

from firebolt_local.standins.engine.activity import Activity
from firebolt_local.standins.engine.cluster import Peers, wait_until_formed
from firebolt_local.standins.engine.config import Config
from firebolt_local.standins.engine.database import Database
from firebolt_local.standins.engine.door import Door
from firebolt_local.standins.engine.queries import Queries
from firebolt_local.standins.engine.routes import health_app, metrics_app, query_app
from firebolt_local.standins.engine.security import Security
from firebolt_local.standins.environment import whole_number

HEALTH_PORT: Final = 8122
METRICS_PORT: Final = 9090
QUERY_SLOTS: Final = 64
EXIT_QUERIES_CUT: Final = 1
LAST_WORDS_SECONDS: Final = 2
_PROVIDER_TIMEOUT: Final = aiohttp.ClientTimeout(total=5)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    query: int
    health: int
    metrics: int


async def serve(config: Config, security: Security, data_dir: Path, activity: Activity) -> int:
    """Until SIGTERM; answers the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, activity.stop)
    # Named after the pod: pods that share a folder of their node must not share a file.
    database = Database(data_dir / f"{socket.gethostname()}.duckdb")
    queries = Queries(database, activity, slots=whole_number("STANDIN_QUERY_SLOTS", QUERY_SLOTS))
    ports = _ports(config)
    async with aiohttp.ClientSession(timeout=_PROVIDER_TIMEOUT) as session:
        # The query port comes first. Probes and scrapes never meet TLS, nor anybody who asks for a token.
        doors = [
            await Door.opened(
                query_app(config, security, activity, queries, session),
                ports.query,
                None if security.tunnel is None else security.tunnel.listener,
            ),
            await Door.opened(health_app(activity), ports.health),
            await Door.opened(metrics_app(activity), ports.metrics),
        ]
        try:
            async with asyncio.TaskGroup() as group:
                forming = group.create_task(_form(config, _peers(config, security, ports), activity), name="cluster")
                await activity.stopping.wait()
                forming.cancel()
            return await _drain(config, activity, doors[0])
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


def _peers(config: Config, security: Security, ports: Ports) -> Peers:
    hosts = [node.host for node in config.engine.nodes]
    if security.tunnel is None:
        return Peers(hosts=hosts, port=ports.health)
    return Peers(hosts=hosts, port=ports.query, tls=security.tunnel.peers)


async def _form(config: Config, peers: Peers, activity: Activity) -> None:
    await wait_until_formed(config.instance.multi_engine.metadata_endpoint, peers)
    activity.is_formed = True
    log.info("cluster of %d formed, ready", len(peers.hosts))


async def _drain(config: Config, activity: Activity, queries: Door) -> int:
    log.info("stopping, %d queries to finish", activity.admitted)
    try:
        async with asyncio.timeout(config.grace_period.total_seconds()):
            await activity.idle.wait()
    except TimeoutError:
        log.warning("cutting %d queries off: they outlast the grace period", activity.admitted)
        return EXIT_QUERIES_CUT
    await queries.close(patience_seconds=whole_number("STANDIN_LAST_WORDS_SECONDS", LAST_WORDS_SECONDS))
    log.info("drained")
    return 0
