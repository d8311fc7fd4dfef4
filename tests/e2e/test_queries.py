"""Does a new engine answer queries, with the programs that people use?"""

import asyncio
import json

import pytest
from firebolt.client.auth.firebolt_core import FireboltCore
from firebolt.db.connection import connect

from firebolt_local.load import ENGINE_HEADER
from firebolt_operator.api.names import EngineReason
from tests.e2e.scene import Scene, output

pytestmark = pytest.mark.quick

SQL = "SELECT i, i * i AS square, 'number ' || i AS name FROM range(1, 4) AS t(i)"
ROWS = [[1, 1, "number 1"], [2, 4, "number 2"], [3, 9, "number 3"]]


async def test_given_an_instance_when_an_engine_is_made_then_it_answers_curl_and_the_sdk(scene: Scene) -> None:
    await scene.make_resting_engine("new", replicas=2)
    ready = scene.ready("new")
    assert (ready.status, ready.reason) == ("True", EngineReason.ENGINE_READY)
    assert scene.sight.phases_of("new") == ["creating", "switching", "stable"]
    assert await _asked_with_curl(scene, "new") == ROWS
    assert await asyncio.to_thread(_asked_with_sdk, scene.plan("new").url, "new") == ROWS


async def test_given_no_such_engine_when_asked_then_the_gateway_answers_and_does_not_hang(scene: Scene) -> None:
    url = scene.plan("none").url
    words = ["--silent", "--max-time", "150", "--output", "/dev/null", "--write-out", "%{http_code}"]
    without_name = await output("curl", *words, "--data-binary", SQL, url)
    assert without_name == "400"


async def _asked_with_curl(scene: Scene, engine: str) -> list[list[object]]:
    url = scene.plan(engine).url
    words = ["--silent", "--show-error", "--fail-with-body", "--max-time", "60"]
    told = await output("curl", *words, "--header", f"{ENGINE_HEADER}: {engine}", "--data-binary", SQL, url)
    rows: list[list[object]] = json.loads(told)["data"]
    return rows


def _asked_with_sdk(url: str, engine: str) -> list[list[object]]:
    with connect(auth=FireboltCore(), url=url.rstrip("/"), database="firebolt") as connection:
        connection._client.headers[ENGINE_HEADER] = engine
        cursor = connection.cursor()
        cursor.execute(SQL)
        return [list(row) for row in cursor.fetchall()]
