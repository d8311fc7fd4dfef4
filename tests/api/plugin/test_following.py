"""Do status and record follow real engines, from what kubectl really says?"""

import asyncio
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from firebolt_operator.refs import Manifest
from tests.api.engine.person import Person
from tests.api.engine.running import Operator
from tests.support.plugin import Plugin

PICTURE = """\
eng  not ready (Rolling), phase creating; generation 0 serves with 1 of 1 pods ready, generation 1 is on its way
Engine is in creating phase

● creating ── ○ switching ── ○ draining ── ○ cleaning ── ○ stable

GENERATION   ROLE       READY                          IMAGE
g1           starting   0/1                            engine:1.0
g0           serving    1/1     ━━━━━━━━━━━━━━━━━━━━   engine:1.0

POD        STATE                                                            AGE
eng-g0-0   ready                                                            Ns
eng-g1-0   container engine: started, but its readiness probe fails         Ns

next: It waits until the pod of generation 1 is ready, then sends queries there. Generation 0 goes on serving.
"""


def unready(note: str) -> Manifest:
    return {"template": {"metadata": {"annotations": {"sim.firebolt.io/ready": "false", "note": note}}}}


@contextmanager
def running(plugin: Plugin, *arguments: str) -> Generator[subprocess.Popen[str]]:
    command, environment = plugin.command(*arguments), plugin.variables()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield process


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def rest(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    assert process.wait(60) == 0
    return lines


async def a_rollout_that_waits(operator: Operator, person: Person) -> None:
    """Generation 1 has started and is not ready."""
    await person.make_instance()
    await person.make_engine(replicas=1)
    await operator.until_at_rest(0)
    await person.edit_engine(**unready("new"))
    await operator.sees(lambda: "readiness probe" in str(operator.caches.pods.get((person.namespace, "eng-g1-0"))))


async def test_status_shows_a_rollout_and_ends_with_it(operator: Operator, person: Person, plugin: Plugin) -> None:
    await a_rollout_that_waits(operator, person)
    shown = re.sub(r"\b\d+s\b", "Ns", await asyncio.to_thread(plugin.says, "status", "eng", "--once"))
    assert [line.split() for line in shown.splitlines()] == [line.split() for line in PICTURE.splitlines()]
    with running(plugin, "status", "eng") as process:
        first = await asyncio.to_thread(next_line, process)
        assert first.split(" s  ")[1].startswith(
            "creating   g1 starting 0/1, g0 serving 1/1  Engine is in creating phase"
        )
        await person.annotate_pod("eng-g1-0", ready=None)
        lines = await asyncio.to_thread(rest, process)
    assert "stable     g1 serving 1/1" in lines[-1]
    assert lines[-1].endswith("Engine is serving traffic on generation 1")
    again = await asyncio.to_thread(plugin.says, "status", "eng")
    assert "stable     g1 serving 1/1" in again


async def test_an_engine_is_recorded_from_its_creation(
    operator: Operator, person: Person, plugin: Plugin, tmp_path: Path
) -> None:
    await person.make_instance()
    page = tmp_path / "eng.html"
    with running(plugin, "record", "eng", "--page", str(page), "--until-settled") as process:
        assert await asyncio.to_thread(next_line, process) == f"recording eng; Ctrl+C ends it and writes {page}\n"
        await person.make_engine(replicas=2)
        await operator.until_at_rest(0)
        lines = await asyncio.to_thread(rest, process)
    assert lines[-1] == f"the picture of it: {page}"
    assert "stable     g0 serving 2/2" in lines[-2]
    text = page.read_text()
    assert "eng: 1 generation, 2 pods" in text
    assert 'class="phase phase-creating"' in text
    assert "g0: 2 nodes, image 1.0" in text
    assert text.count("eng-g0-1") > 1


async def test_a_deleted_engine_is_no_success(operator: Operator, person: Person, plugin: Plugin) -> None:
    await a_rollout_that_waits(operator, person)
    with running(plugin, "status", "eng") as process:
        await asyncio.to_thread(next_line, process)
        await person.kubectl("delete", "fireng", "eng", "--wait=false")
        assert await asyncio.to_thread(process.wait, 60) == 1
