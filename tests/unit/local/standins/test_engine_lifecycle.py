"""An engine is ready when its cluster has formed, and leaves without losing a query."""

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from firebolt_local.standins.health_messages import ServingStatus
from tests.support.standins.programs import EngineProcess, Place, ended, engine_document, eventually, running_engine
from tests.unit.local.standins.conftest import MetadataHealth

RUNNING = "firebolt_running_queries"


async def test_given_no_metadata_service_then_the_engine_lives_but_is_not_ready(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    metadata_health.server.change(ServingStatus.NOT_SERVING)
    async with running_engine(tmp_path, engine_document(metadata_health.port)) as engine:

        async def has_asked() -> bool:
            return "NOT_SERVING" in engine.log.read_text()

        await eventually(has_asked, "the engine has asked the metadata service")
        assert await engine.health("/health/ready") == 503
        status, body = await engine.sql("SELECT 1")
        assert (status, body) == (503, "the engine's cluster has not formed yet\n")
        metadata_health.server.change(ServingStatus.SERVING)
        await eventually(engine.is_ready, "the engine is ready")
        assert await engine.rows("SELECT 1") == [[1]]


async def test_given_two_nodes_then_neither_is_ready_before_both_live(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    hosts = ["127.0.0.2", "127.0.0.3"]
    document, place = engine_document(metadata_health.port, hosts=hosts), Place.free()
    async with running_engine(tmp_path, document, place=replace(place, address=hosts[0])) as first:

        async def waits_for_the_second() -> bool:
            return "waiting for node 127.0.0.3" in first.log.read_text()

        await eventually(waits_for_the_second, "the first node looks for the second")
        assert await first.health("/health/ready") == 503
        async with running_engine(tmp_path, document, place=replace(place, address=hosts[1]), node=1) as second:
            await eventually(first.is_ready, "the first node is ready")
            await eventually(second.is_ready, "the second node is ready")


async def test_given_an_idle_engine_when_told_to_stop_then_it_waits_for_nobody(engine: EngineProcess) -> None:
    assert await engine.health("/health/ready", port=engine.query_port) == 200
    await engine.session.close()  # nobody keeps a connection that could still carry a query
    engine.process.send_signal(signal.SIGTERM)
    assert await ended(engine.process) == 0
    said = engine.log.read_text()
    assert "stopping, 0 queries to finish" in said
    assert "drained" in said
    assert "still kept" not in said


async def test_given_a_connection_that_is_kept_when_told_to_stop_then_it_is_waited_for(engine: EngineProcess) -> None:
    """It could still carry a query; what is waited for in vain is said."""
    assert await engine.health("/health/ready", port=engine.query_port) == 200
    engine.process.send_signal(signal.SIGTERM)
    assert await ended(engine.process) == 0
    assert "closing connections that are still kept" in engine.log.read_text()


async def test_given_a_running_query_when_told_to_stop_then_it_finishes_and_new_ones_are_turned_away(
    engine: EngineProcess,
) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(engine.rows("SELECT sleep(2), 7"))
        await engine.until(RUNNING, 1)
        engine.process.send_signal(signal.SIGTERM)

        async def is_unready() -> bool:
            return await engine.health("/health/ready") == 503

        await eventually(is_unready, "the engine says that it is not ready")
        assert await engine.health("/health/ready", port=engine.query_port) == 503
        assert await engine.health("/health/live") == 200
        async with engine.session.post(engine.url, data="SELECT 1") as response:
            assert (response.status, response.headers["X-Firebolt-Drained"]) == (503, "true")
            assert response.headers["Connection"] == "close"
        assert await engine.measure(RUNNING) == 1
        assert await running == [[0, 7]]
    assert await ended(engine.process) == 0


async def test_given_a_query_that_outlasts_the_grace_period_then_it_is_cut(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    async with running_engine(tmp_path, engine_document(metadata_health.port, grace="300ms")) as engine:
        await eventually(engine.is_ready, "the engine is ready")
        async with asyncio.TaskGroup() as group:
            cut = group.create_task(_failure_of(engine, "SELECT sleep(3600)"))
            await engine.until(RUNNING, 1)
            engine.process.send_signal(signal.SIGTERM)
            assert await ended(engine.process) == 1
        assert isinstance(cut.result(), aiohttp.ClientConnectionError)


async def _failure_of(engine: EngineProcess, sql: str) -> Exception:
    with pytest.raises(aiohttp.ClientError) as failure:
        await engine.sql(sql)
    return failure.value
