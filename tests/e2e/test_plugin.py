"""Does kubectl firebolt do with real pods what it does with simulated ones, and ask them?"""

import asyncio
import subprocess
import urllib.request
from pathlib import Path

import pytest

from firebolt_local.programs import provision
from tests.e2e.scenario import NEXT_IMAGE, Scenario
from tests.support.plugin import Plugin

WIDE = """\
NAME     INSTANCE   CLASS   REPLICAS   PHASE    READY
listed   main       -       1          stable   true
"""


@pytest.fixture
def plugin(scenario: Scenario) -> Plugin:
    environment = scenario.environment
    variables = {"KUBECONFIG": str(environment.cluster.kubeconfig)}
    return Plugin(provision.provide(["kubectl"])["kubectl"], scenario.namespace, variables)


async def says(plugin: Plugin, *words: str) -> str:
    return await asyncio.to_thread(plugin.says, *words)


async def test_given_an_engine_when_asked_with_the_plugin_then_it_answers(scenario: Scenario, plugin: Plugin) -> None:
    await scenario.make_resting_engine("plugged", replicas=1)
    assert (
        await says(plugin, "query", "plugged", "SELECT 42 AS answer, 'a b' AS word") == "answer   word\n42       a b\n"
    )
    refused = await asyncio.to_thread(plugin.refuses, "query", "plugged", "SELECT nonsense FROM nowhere")
    assert refused.startswith("HTTP 4")
    missing = await asyncio.to_thread(plugin.refuses, "query", "nobody", "SELECT 1", "--instance", scenario.instance)
    assert missing.startswith("HTTP 404: no such engine")


async def test_given_an_engine_when_listed_stopped_and_started_then_it_says_what_it_says_of_simulated_ones(
    scenario: Scenario, plugin: Plugin
) -> None:
    await scenario.make_resting_engine("listed", replicas=1)
    assert await says(plugin, "engine", "list", "-o", "wide", "--instance", scenario.instance) == WIDE
    assert await says(plugin, "instance", "list") == "NAME   PHASE   READY\nmain   Ready   true\n"
    told = "fireboltengine.compute.firebolt.io/listed"
    assert await says(plugin, "engine", "stop", "listed") == (
        f"{told} scaled\n{told} condition met\n"
        "queries are refused until it is started again: kubectl firebolt engine start listed --replicas 1\n"
    )
    assert "stopped" in await says(plugin, "explain", "listed")
    assert (await says(plugin, "engine", "start", "listed", "--replicas", "1")).endswith(f"{told} condition met\n")
    assert await says(plugin, "query", "listed", "SELECT 1 AS one") == "one\n1\n"
    assert await says(plugin, "engine", "restart", "listed") == f"{told} patched\n{told} condition met\n"
    assert await says(plugin, "engine", "delete", "listed") == (
        f'fireboltengine.compute.firebolt.io "listed" deleted from {scenario.namespace} namespace\n'
    )


async def test_given_a_port_forward_when_asked_then_the_engine_answers(scenario: Scenario, plugin: Plugin) -> None:
    await scenario.make_resting_engine("near", replicas=1)
    with _started(plugin, "engine", "port-forward", "near") as process:
        assert process.stdout is not None
        told = await asyncio.to_thread(process.stdout.readline)
        assert told.startswith("Forwarding on http://localhost:")
        url = told.removeprefix("Forwarding on ").strip().replace("localhost", "127.0.0.1")
        answer = await asyncio.to_thread(_posted, url)
        process.terminate()
        assert await asyncio.to_thread(process.wait, 60) == 0
    assert '"data":[[7]]' in answer


async def test_given_a_new_image_when_recorded_then_the_picture_shows_both_generations(
    scenario: Scenario, plugin: Plugin, tmp_path: Path
) -> None:
    await scenario.make_resting_engine("drawn", replicas=1)
    page = tmp_path / "drawn.html"
    with _started(plugin, "record", "drawn", "--page", str(page), "--until-settled") as process:
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        await asyncio.to_thread(process.stdout.readline)  # what it was before
        await scenario.edit("drawn", template=NEXT_IMAGE)
        lines = (await asyncio.to_thread(process.stdout.read)).splitlines()
    assert lines[-1] == f"the picture of it: {page}"
    assert "drawn: 2 generations, 2 pods" in page.read_text()
    assert "ready, phase stable; generation 1 serves with 1 of 1 pods ready" in await says(plugin, "explain", "drawn")


def _started(plugin: Plugin, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(plugin.command(*words), env=plugin.variables(), stdout=subprocess.PIPE, text=True)


def _posted(url: str) -> str:
    with urllib.request.urlopen(url, data=b"SELECT 7 AS n", timeout=60) as response:
        body: bytes = response.read()
        return body.decode()
