"""Stand-ins as real processes on loopback, each ended by its own handle."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_operator.engine.observe.gauges import gauge
from firebolt_operator.refs import Manifest
from tests.support.child_processes import python_environment

PATIENCE_SECONDS = 30.0


@asynccontextmanager
async def running_program(
    module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path
) -> AsyncGenerator[asyncio.subprocess.Process]:
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            f"firebolt_local.standins.{module}",
            *arguments,
            env={**python_environment(), **environment},
            stdout=output,
            stderr=output,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await condition():  # noqa: ASYNC110 - another process cannot set an event here
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"never happened: {what}") from None


async def ended(process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await process.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProcess:
    process: asyncio.subprocess.Process
    session: aiohttp.ClientSession
    address: str
    query_port: int
    health_port: int
    metrics_port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.query_port}/"

    async def sql(self, text: str, **settings: str) -> tuple[int, str]:
        async with self.session.post(self.url, data=text, params=settings) as response:
            return response.status, await response.text()

    async def rows(self, text: str) -> list[list[object]]:
        status, body = await self.sql(text)
        assert status == 200, body
        data: list[list[object]] = json.loads(body)["data"]
        return data

    async def health(self, path: str, *, port: int | None = None) -> int | None:
        """None when nobody listens."""
        try:
            async with self.session.get(f"http://{self.address}:{port or self.health_port}{path}") as response:
                return response.status
        except aiohttp.ClientConnectionError:
            return None

    async def is_ready(self) -> bool:
        return await self.health("/health/ready") == 200

    async def is_live(self) -> bool:
        return await self.health("/health/live") == 200

    async def measure(self, name: str) -> int | None:
        async with self.session.get(f"http://{self.address}:{self.metrics_port}/metrics") as response:
            return gauge(await response.text(), name)

    async def until(self, name: str, value: int) -> None:
        async def is_so() -> bool:
            return await self.measure(name) == value

        await eventually(is_so, f"{name} {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an engine lives; nodes of one cluster share the ports and differ in their address."""

    query: int
    health: int
    metrics: int
    address: str = LOOPBACK

    @classmethod
    def free(cls) -> "Place":
        return cls(query=free_port(), health=free_port(), metrics=free_port())

    def environment(self) -> dict[str, str]:
        return {
            "STANDIN_ADDRESS": self.address,
            "STANDIN_QUERY_PORT": str(self.query),
            "STANDIN_HEALTH_PORT": str(self.health),
            "STANDIN_METRICS_PORT": str(self.metrics),
        }


def engine_document(metadata_port: int, *, hosts: Sequence[str] = (LOOPBACK,), grace: str = "55s") -> Manifest:
    return {
        "schema_version": "1.0",
        "instance": {
            "id": "01JINSTANCE",
            "type": "multi_engine",
            "multi_engine": {"metadata_endpoint": f"{LOOPBACK}:{metadata_port}"},
        },
        "engine": {
            "id": "sales",
            "nodes": [{"host": host} for host in hosts],
            "termination_grace_period": grace,
        },
        "logging": {"format": "json"},
    }


@asynccontextmanager
async def running_engine(
    folder: Path,
    document: Manifest,
    *,
    place: Place | None = None,
    node: int = 0,
    environment: Mapping[str, str] | None = None,
) -> AsyncGenerator[EngineProcess]:
    place = place or Place.free()
    data_dir = folder / f"node-{node}"
    data_dir.mkdir()
    (data_dir / "config.yaml").write_text(json.dumps(document))
    arguments = ["server", "--node", str(node), "--data-dir", str(data_dir)]
    settings = {**place.environment(), **(environment or {})}
    log = folder / f"node-{node}.log"
    async with (
        aiohttp.ClientSession() as session,
        running_program("engine", arguments, settings, log) as process,
    ):
        engine = EngineProcess(
            process=process,
            session=session,
            address=place.address,
            query_port=place.query,
            health_port=place.health,
            metrics_port=place.metrics,
            log=log,
        )
        await eventually(engine.is_live, "the engine is alive")
        yield engine
