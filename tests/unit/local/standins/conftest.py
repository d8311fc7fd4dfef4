"""A metadata service as far as engines can tell, and an engine that is ready."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.standins.health_messages import ServingStatus
from firebolt_local.standins.metadata.health_server import HealthServer
from tests.support.standins.programs import EngineProcess, engine_document, eventually, running_engine


@dataclass(frozen=True, slots=True)
class MetadataHealth:
    server: HealthServer
    port: int


@pytest.fixture
async def metadata_health() -> AsyncGenerator[MetadataHealth]:
    """Serving; `.server.change(...)` changes its mind."""
    server, port = HealthServer(), free_port()
    await server.start(LOOPBACK, port)
    server.change(ServingStatus.SERVING)
    yield MetadataHealth(server, port)
    await server.stop()


@pytest.fixture
async def engine(tmp_path: Path, metadata_health: MetadataHealth) -> AsyncGenerator[EngineProcess]:
    async with running_engine(tmp_path, engine_document(metadata_health.port)) as started:
        await eventually(started.is_ready, "the engine is ready")
        yield started
