"""Behind a real Envoy with the gateway's configuration, generations of engines come and go without a lost query."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from firebolt_local.cluster.ports import free_port
from firebolt_operator.api import names
from tests.support.dataplane.rig import Rig, running_rig, service_host
from tests.support.standins.programs import EngineProcess, Place, ended, engine_document, eventually, running_engine
from tests.unit.local.standins.conftest import MetadataHealth

SENDERS = 8
FLIPS = 3


@dataclass(slots=True)
class Senders:
    url: str
    outcomes: Counter[str] = field(default_factory=Counter[str])
    is_over: bool = False

    async def send(self, session: aiohttp.ClientSession) -> None:
        headers = {"X-Firebolt-Engine": "eng"}
        while not self.is_over:
            async with session.post(self.url, data="SELECT sleep(0.05)", headers=headers) as answer:
                text = await answer.text()
            self.outcomes["answered" if answer.status == 200 else f"{answer.status} {text}"] += 1


@asynccontextmanager
async def an_engine(
    folder: Path, rig: Rig, metadata_health: MetadataHealth, *, number: int
) -> AsyncGenerator[EngineProcess]:
    address = f"{rig.address.rpartition('.')[0]}.{number + 2}"
    place = Place(query=names.PORT_QUERY, health=free_port(), metrics=free_port(), address=address)
    home = folder / f"generation-{number}"
    home.mkdir()
    document = engine_document(metadata_health.port, hosts=[address])
    # Until Envoy has let go of it: on a busy machine that takes longer than an engine usually waits.
    patience = {"STANDIN_LAST_WORDS_SECONDS": "50"}
    async with running_engine(home, document, place=place, environment=patience) as engine:
        await eventually(engine.is_ready, "the engine is ready")
        yield engine


async def test_given_queries_all_the_time_when_generations_change_then_none_is_lost(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(running_rig(tmp_path))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        active = await stack.enter_async_context(an_engine(tmp_path, rig, metadata_health, number=0))
        rig.zone.set(service_host("eng"), active.address)
        senders = Senders(f"http://{rig.address}:{names.PORT_GATEWAY}/")
        async with asyncio.TaskGroup() as group:
            for _ in range(SENDERS):
                group.create_task(senders.send(session))
            for number in range(1, FLIPS + 1):
                old = active
                active = await stack.enter_async_context(an_engine(tmp_path, rig, metadata_health, number=number))
                await _has_answered(old)
                rig.zone.set(service_host("eng"), active.address)
                # At once: queries that still reach the old pod have to be turned away, not lost.
                old.process.send_signal(signal.SIGTERM)
                assert await ended(old.process) == 0
            await _has_answered(active)
            senders.is_over = True
        assert set(senders.outcomes) == {"answered"}, senders.outcomes


async def _has_answered(engine: EngineProcess) -> None:
    async def is_so() -> bool:
        return bool(await engine.measure("firebolt_queries_succeeded_total"))

    await eventually(is_so, "the engine has answered a query")
