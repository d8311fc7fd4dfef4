"""The UI serves a page and brings its queries to the engine."""

import json
import signal
from pathlib import Path

import aiohttp

from firebolt_local.cluster.ports import LOOPBACK, free_port
from tests.support.standins.programs import EngineProcess, ended, eventually, running_program


async def test_given_an_engine_then_the_page_can_query_it(tmp_path: Path, engine: EngineProcess) -> None:
    port = free_port()
    environment = {
        "STANDIN_ADDRESS": LOOPBACK,
        "STANDIN_UI_PORT": str(port),
        "FIREBOLT_CORE_URL": f"http://{LOOPBACK}:{engine.query_port}",
    }
    url = f"http://{LOOPBACK}:{port}"
    session = engine.session

    async def is_up() -> bool:
        try:
            async with session.get(f"{url}/") as page:
                return page.status == 200 and "stands in for" in await page.text()
        except aiohttp.ClientConnectionError:
            return False

    async with running_program("ui", [], environment, tmp_path / "ui.log") as ui:
        await eventually(is_up, "the UI answers")
        async with session.post(f"{url}/query", data="SELECT 6 * 7") as answer:
            assert (answer.status, json.loads(await answer.text())["data"]) == (200, [[42]])
        async with session.post(f"{url}/query", data="SELEC") as answer:
            assert (answer.status, "syntax error" in await answer.text()) == (400, True)
        engine.process.kill()
        await ended(engine.process)
        async with session.post(f"{url}/query", data="SELECT 1") as answer:
            assert (answer.status, "the engine does not answer" in await answer.text()) == (502, True)
        ui.send_signal(signal.SIGTERM)
        assert await ended(ui) == 0
