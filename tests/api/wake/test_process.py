"""The agent as a process: does it live within its memory, write no file, and end when it is told to?"""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from firebolt_local.cluster.ports import free_port
from firebolt_operator.wake.agent import Ports
from tests.api.wake.envoy_stand_in import EnvoyStandIn, an_envoy
from tests.api.wake.place import Place
from tests.api.wake.running import START, Asked, agent_environment, eventually, pending

MEBIBYTE = 1 << 20
# No file may grow, and whoever tries is killed: the container's file system is read-only.
SHELL = 'ulimit -f 0; exec "$@"'


@dataclass(frozen=True, slots=True)
class Started:
    process: asyncio.subprocess.Process
    asked: Asked

    def memory(self) -> int:
        """Bytes resident now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) * 1024


@asynccontextmanager
async def a_process(place: Place, account: str, *more: str) -> AsyncGenerator[Started]:
    ports = Ports(free_port(), free_port())
    process = await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", SHELL, "sh", sys.executable, "-c", START, str(place.account_folder(account)),
        f"--hold-port={ports.hold}", f"--metrics-port={ports.metrics}", "--fallback-hold-cap=2000", *more,
        cwd="/",
        env={
            **agent_environment(place),
            "POD_NAMESPACE": place.namespace,
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            asked = Asked(ports, EnvoyStandIn(), session)
            await _until_it_listens(process)
            await asked.until_metric("firebolt_gateway_wake_synced", 1)
            yield Started(process, asked)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _until_it_listens(process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    async with asyncio.timeout(60):
        while b"holding queries" not in (line := await process.stderr.readline()):
            assert line, "the agent ended"


@pytest.fixture
async def gateway(place: Place) -> str:
    await place.make_instance()
    await place.make_engine()
    return await place.make_gateway_account()


async def test_given_a_thousand_holds_when_they_wait_then_the_process_stays_below_64_mebibytes(
    place: Place, gateway: str
) -> None:
    async with a_process(place, gateway) as started:
        at_rest = started.memory()
        async with asyncio.TaskGroup() as group:
            held = [group.create_task(started.asked.hold("eng")) for _ in range(1000)]
            await started.asked.until_metric(pending("eng"), 1000)
            busy = started.memory()
            print(f"{at_rest / MEBIBYTE:.1f} MiB at rest, {busy / MEBIBYTE:.1f} MiB with 1000 holds")
            assert (await started.asked.hold("eng")).decision == "shed"
            for task in held:
                task.cancel()
        await started.asked.until_metric(pending("eng"), 0)
        assert busy < 64 * MEBIBYTE


async def test_given_a_signal_and_no_envoy_when_queries_are_held_then_they_are_refused_and_the_process_ends_well(
    place: Place, gateway: str
) -> None:
    async with a_process(place, gateway) as started, asyncio.TaskGroup() as group:
        held = group.create_task(started.asked.hold("eng"))
        await started.asked.until_metric(pending("eng"), 1)
        started.process.send_signal(signal.SIGTERM)
        assert (await held).decision == "leaving"
        async with asyncio.timeout(60):
            assert await started.process.wait() == 0


async def test_given_a_signal_when_envoy_is_there_then_the_process_holds_on_and_leaves_after_it(
    place: Place, gateway: str
) -> None:
    async with AsyncExitStack() as envoys:
        envoy = await envoys.enter_async_context(an_envoy())
        async with a_process(place, gateway, f"--envoy-admin-url={envoy.url}", "--drain-timeout=1h") as started:
            async with asyncio.TaskGroup() as group:
                held = group.create_task(started.asked.hold("eng"))
                await started.asked.until_metric(pending("eng"), 1)
                started.process.send_signal(signal.SIGTERM)
                await eventually(lambda: _was_asked_whether_it_is_there(envoy), "the process looks for Envoy")
                # Other queries are answered and held as before.
                late = group.create_task(started.asked.hold("eng"))
                await started.asked.until_metric(pending("eng"), 2)
                await envoys.aclose()
                assert {(await held).decision, (await late).decision} == {"leaving"}
            async with asyncio.timeout(60):
                assert await started.process.wait() == 0


async def test_given_a_signal_when_the_pods_time_ends_then_held_queries_are_refused_while_envoy_is_there(
    place: Place, gateway: str
) -> None:
    async with an_envoy() as envoy:
        words = (f"--envoy-admin-url={envoy.url}", "--drain-timeout=4s")
        async with a_process(place, gateway, *words) as started, asyncio.TaskGroup() as group:
            held = group.create_task(started.asked.hold("eng"))
            await started.asked.until_metric(pending("eng"), 1)
            started.process.send_signal(signal.SIGTERM)
            assert (await held).decision == "leaving"


async def _was_asked_whether_it_is_there(envoy: EnvoyStandIn) -> bool:
    return "ready" in envoy.questions


async def test_given_a_taken_port_when_started_then_the_process_says_so_and_ends(place: Place, gateway: str) -> None:
    async with a_process(place, gateway) as started:
        port = f"--hold-port={started.asked.ports.hold}"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", START, str(place.account_folder(gateway)), port, "--metrics-port=0", "--namespace=x",
            env=agent_environment(place),
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(60):
            _, complaints = await process.communicate()
        assert (process.returncode, b"cannot listen on" in complaints) == (1, True)


@pytest.mark.parametrize(
    ("words", "code"), [(["--nonsense"], 2), (["--namespace="], 1), (["--help"], 0), (["--namespace=ns"], 1)]
)
async def test_exit_codes(words: list[str], code: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", START, "/nowhere", *words,
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    async with asyncio.timeout(60):
        assert await process.wait() == code
