"""An agent as it runs in a pod, and somebody who asks it what Envoy asks."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import aiohttp

from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.observability.logs import LogSettings
from firebolt_operator.runtime.clock import Clock, SystemClock, Timer
from firebolt_operator.wake.agent import Ports, running_agent
from firebolt_operator.wake.decide.answers import DECISION_HEADER
from firebolt_operator.wake.decide.capacity import HoldLimits
from firebolt_operator.wake.routing import service_host
from firebolt_operator.wake.settings import AgentSettings
from tests.api.wake.envoy_stand_in import EnvoyStandIn, an_envoy
from tests.api.wake.place import Place

SECONDS = 30.0
# As in a pod, but for the folder of the account: its first word.
START = """
import os, pathlib, sys
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.wake.command import run_agent
load_credentials.__kwdefaults__["service_account"] = pathlib.Path(sys.argv[1])
sys.exit(run_agent(sys.argv[2:], os.environ))
"""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    decision: str
    retry_after: str = ""
    body: str = ""


@dataclass(slots=True)
class Asked:
    """One running agent, seen from Envoy's place."""

    ports: Ports
    envoy: EnvoyStandIn
    session: aiohttp.ClientSession = field(repr=False)

    async def hold(self, engine: str) -> Reply:
        url = f"http://127.0.0.1:{self.ports.hold}/hold"
        async with self.session.get(url, params={"engine": engine}) as answer:
            headers = answer.headers
            decision, retry_after = headers.get(DECISION_HEADER, ""), headers.get("Retry-After", "")
            return Reply(answer.status, decision, retry_after, await answer.text())

    async def metric(self, line: str) -> float:
        """The value of a series; 0 if there is none."""
        async with self.session.get(f"http://127.0.0.1:{self.ports.metrics}/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return next((float(each.rpartition(" ")[2]) for each in lines if each.startswith(f"{line} ")), 0.0)

    async def until_metric(self, line: str, value: float) -> None:
        async def is_so() -> bool:
            return await self.metric(line) == value

        await eventually(is_so, f"{line} is {value:g}")


class HastyClock(SystemClock):
    """For waits of half a minute in a second; instants for others are true."""

    factor = 30.0

    def monotonic(self) -> float:
        return super().monotonic() * self.factor

    async def sleep(self, seconds: float, /) -> None:
        await super().sleep(seconds / self.factor)

    def call_later(self, seconds: float, callback: Callable[[], None], /) -> Timer:
        return super().call_later(seconds / self.factor, callback)


def pending(engine: str) -> str:
    return f'firebolt_gateway_wake_pending_holds{{engine="{engine}"}}'


def stamps(result: str) -> str:
    return f'firebolt_gateway_wake_stamps_total{{result="{result}"}}'


@asynccontextmanager
async def an_agent(
    kubeconfig: Path,
    namespace: str,
    *,
    hold_timeout: float = 60.0,
    cap: int = 2000,
    synced: bool = True,
    clock: Clock | None = None,
) -> AsyncGenerator[Asked]:
    async with AsyncExitStack() as stack:
        envoy = await stack.enter_async_context(an_envoy())
        settings = AgentSettings(
            namespace=namespace,
            hold_port=0,
            metrics_port=0,
            envoy_admin_url=envoy.url,
            limits=HoldLimits(memory_limit=0, per_hold=0, fallback=cap),
            hold_timeout=timedelta(seconds=hold_timeout),
            drain_timeout=timedelta(seconds=15),
            instance="",
            logs=LogSettings(),
        )
        credentials = load_credentials(str(kubeconfig), {})
        agent = running_agent(settings, credentials, envoy.resolve, clock or SystemClock())
        ports = (await stack.enter_async_context(agent)).ports
        connector = aiohttp.TCPConnector(limit=0)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        asked = Asked(ports, envoy, session)
        if synced:
            await asked.until_metric("firebolt_gateway_wake_synced", 1)
        yield asked


async def eventually(check: Callable[[], Awaitable[bool]], what: str) -> None:
    """For state that nobody announces."""
    ends_at = asyncio.get_running_loop().time() + SECONDS
    while not await check():
        if asyncio.get_running_loop().time() > ends_at:
            raise AssertionError(f"not within {SECONDS:g} s: {what}")
        await asyncio.sleep(0.02)


def resolves(place: Place, asked: Asked, engine: str = "eng") -> None:
    asked.envoy.hosts.add(service_host(engine, place.namespace))


async def until_stamped(place: Place, engine: str = "eng") -> None:
    async def is_stamped() -> bool:
        return bool(await place.stamp_of(engine))

    await eventually(is_stamped, f"{engine} is stamped")


def agent_environment(place: Place) -> dict[str, str]:
    """What a pod's environment says of the API server."""
    host, _, port = place.plane.server.removeprefix("https://").partition(":")
    path = ":".join(filter(None, sys.path))
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "PYTHONPATH": path}
