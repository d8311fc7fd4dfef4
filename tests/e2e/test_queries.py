"""Does a new engine answer queries, with the programs that people use?"""

import asyncio
import json
import shutil

import pytest
from firebolt.client.auth.firebolt_core import FireboltCore
from firebolt.db.connection import connect

from firebolt_local.testing.tokens import ENGINE_HEADER
from firebolt_operator.api.names import EngineReason
from tests.e2e.scenario import Scenario, output

pytestmark = pytest.mark.quick

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
SQL = "SELECT i, i * i AS square, 'number ' || i AS name FROM range(1, 4) AS t(i)"
ROWS = [[1, 1, "number 1"], [2, 4, "number 2"], [3, 9, "number 3"]]


async def test_given_an_instance_when_an_engine_is_made_then_it_answers_the_sdk(scenario: Scenario) -> None:
    await scenario.make_resting_engine("new", replicas=2)
    ready = scenario.ready("new")
    assert (ready.status, ready.reason) == ("True", EngineReason.ENGINE_READY)
    assert scenario.informer.phases_of("new") == ["creating", "switching", "stable"]
    assert await asyncio.to_thread(_asked_with_sdk, scenario.plan("new").url, "new") == ROWS


@needs_curl
async def test_given_an_engine_when_asked_with_curl_then_it_answers(scenario: Scenario) -> None:
    await scenario.make_resting_engine("plain", replicas=1)
    assert await _asked_with_curl(scenario, "plain") == ROWS


@needs_curl
async def test_given_no_engine_is_named_when_asked_then_the_gateway_refuses_at_once(scenario: Scenario) -> None:
    words = ["--silent", "--max-time", "10", "--output", "/dev/null", "--write-out", "%{http_code}"]
    assert await output("curl", *words, "--data-binary", SQL, scenario.plan("").url) == "400"


async def _asked_with_curl(scenario: Scenario, engine: str) -> list[list[object]]:
    url = scenario.plan(engine).url
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
