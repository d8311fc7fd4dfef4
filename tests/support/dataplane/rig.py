"""Gateway, resolver, engines and agent together, on loopback addresses that no other test uses."""

import asyncio
import random
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap
from firebolt_operator.gateway.inputs import GatewayInputs, GatewayTLS
from firebolt_operator.refs import Manifest
from tests.support.dataplane.client import Client
from tests.support.dataplane.dns_server import Zone, serving_dns
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.envoy import Envoy, running_envoy
from tests.support.dataplane.hold_agent import HoldAgent, serving_holds
from tests.support.dataplane.ledger import Ledger
from tests.support.dataplane.network import NEAR_ADDRESS
from tests.support.dataplane.relocation import DNS_PORT, relocated
from tests.support.gateways import an_instance, gateway_inputs

NAMESPACE: Final = "ns"
Change = Callable[[Manifest], None]


@dataclass(slots=True)
class Rig:
    address: str  # of gateway, resolver and agent
    envoy: Envoy
    client: Client
    zone: Zone
    agent: HoldAgent
    ledger: Ledger = field(default_factory=Ledger)
    pods: list[EnginePod] = field(default_factory=list[EnginePod])

    async def pod(self, tls: ssl.SSLContext | None = None) -> EnginePod:
        """One more engine pod, on an address of its own."""
        prefix = self.address.rpartition(".")[0]
        return await self.pod_at(f"{prefix}.{len(self.pods) + 2}", tls=tls)

    async def pod_at(self, address: str, namespace: str = "", tls: ssl.SSLContext | None = None) -> EnginePod:
        pod = EnginePod(address, self.ledger, namespace, tls)
        self.pods.append(pod)
        return await pod.start()

    async def generation(self, count: int) -> list[EnginePod]:
        return [await self.pod() for _ in range(count)]

    def point(self, engine: str, pods: list[EnginePod]) -> None:
        """What switching a Service's selector does to DNS."""
        self.zone.set(service_host(engine), *(pod.address for pod in pods))

    def stop_pods(self) -> None:
        for pod in self.pods:
            pod.die()

    async def hosts(self, engine: str = "eng") -> dict[str, str]:
        return await self.envoy.hosts(engine, NAMESPACE)


def service_host(engine: str) -> str:
    return f"{names.engine_service_name(engine)}.{NAMESPACE}.svc.cluster.local"


@asynccontextmanager
async def running_rig(
    folder: Path,
    *,
    wake: bool = False,
    agent_runs: bool = True,
    agent_backlog: int = 1024,
    concurrency: int = 1,
    change: Change | None = None,
    namespace: str = "",
    tls: GatewayTLS | None = None,
) -> AsyncGenerator[Rig]:
    """`change` is for negative controls: the configuration without one of its settings.

    Whatever a gateway mounts is read from `folder`.
    """
    address = NEAR_ADDRESS if namespace else f"127.{random.randint(10, 250)}.{random.randint(1, 250)}.1"
    bootstrap = relocated(envoy_bootstrap(rig_inputs(wake=wake, tls=tls)), address, folder)
    if change is not None:
        change(bootstrap)
    zone, agent = Zone(), HoldAgent()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving_dns(zone, address, DNS_PORT, namespace))
        if wake and agent_runs:
            await stack.enter_async_context(serving_holds(agent, address, names.PORT_WAKE_HOLD, agent_backlog))
        running = await stack.enter_async_context(
            running_envoy(bootstrap, folder, concurrency=concurrency, namespace=namespace)
        )
        client = Client(address, names.PORT_GATEWAY, namespace)
        stack.callback(client.close)
        rig = Rig(address, running, client, zone, agent)
        stack.callback(rig.stop_pods)
        yield rig


def rig_inputs(*, wake: bool, tls: GatewayTLS | None = None) -> GatewayInputs:
    return gateway_inputs(an_instance(namespace=NAMESPACE), wake=wake, tls=tls or GatewayTLS())


async def eventually(check: Callable[[], Awaitable[bool]], within: float, what: str) -> float:
    """Seconds until the check holds: for state that only Envoy knows, and that it announces to nobody."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    while not await check():
        if loop.time() - begun > within:
            raise AssertionError(f"not within {within} s: {what}")
        await asyncio.sleep(0.02)
    return loop.time() - begun
