"""A gateway pod without a node: a real Envoy with the rendered configuration, and a real agent process beside it.

Both run where simulated pods have addresses. Nothing is moved: ports, loopback addresses and the agent's way to the API
server are those of a pod; only the resolver is the test's own.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.bootstrap import envoy_bootstrap
from firebolt_operator.gateway.envoy.extensions import socket_address
from firebolt_operator.refs import Manifest
from tests.api.wake.place import INSTANCE, Place
from tests.api.wake.running import START, agent_environment
from tests.api.waking.cluster import Cluster, running_cluster
from tests.support.dataplane.client import Client
from tests.support.dataplane.dns_server import serving_dns
from tests.support.dataplane.envoy import Envoy, running_envoy
from tests.support.dataplane.relocation import engine_cluster
from tests.support.gateways import an_instance, gateway_inputs

LOOPBACK: Final = "127.0.0.1"
DNS_PORT: Final = 53
METRICS_PORT: Final = 9191
SECONDS: Final = 60.0
ENVOY_ADMIN: Final = f"--envoy-admin-url=http://{LOOPBACK}:{names.PORT_ENVOY_ADMIN}"
# In a mount namespace of its own: the resolver of a pod is a file.
SHELL: Final = 'mount --bind "$RESOLVER" /etc/resolv.conf && exec "$@"'


@dataclass(slots=True)
class AgentProcess:
    process: asyncio.subprocess.Process
    scraper: Client
    lines: list[str] = field(default_factory=list[str])  # of its log

    async def metric(self, series: str) -> float:
        """The value of a series; 0 if there is none."""
        text = (await self.scraper.get("/metrics")).body.decode()
        found = (line for line in text.splitlines() if line.startswith(f"{series} "))
        return next((float(line.rpartition(" ")[2]) for line in found), 0.0)

    async def until_metric(self, series: str, at_least: float) -> None:
        async with asyncio.timeout(SECONDS):
            while await self.metric(series) < at_least:  # noqa: ASYNC110 - the agent announces it to nobody
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()

    async def read_log(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.lines.append(line.decode())


@dataclass(frozen=True, slots=True)
class Gateway:
    envoy: Envoy
    agent: AgentProcess
    client: Client
    cluster: Cluster
    account: str

    async def until_held(self, count: int, engine: str = "eng") -> None:
        await self.agent.until_metric(pending(engine), count)


def pending(engine: str) -> str:
    return f'firebolt_gateway_wake_pending_holds{{engine="{engine}"}}'


def answers(decision: str) -> str:
    return f'firebolt_gateway_wake_answers_total{{decision="{decision}"}}'


def stamps(result: str) -> str:
    return f'firebolt_gateway_wake_stamps_total{{result="{result}"}}'


@asynccontextmanager
async def running_gateway(
    place: Place, pod_network: PodNetwork, *flags: str, admin: str = ENVOY_ADMIN
) -> AsyncGenerator[Gateway]:
    """`flags` are the agent's, after those that every gateway has."""
    network, account = f"/proc/{pod_network.relay_pid}/ns/net", names.gateway_name(INSTANCE)
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(place.client, place.namespace, network))
        await stack.enter_async_context(serving_dns(cluster.zone, LOOPBACK, DNS_PORT, network))
        agent = await stack.enter_async_context(an_agent_process(place, pod_network, account, admin, *flags))
        envoy = running_envoy(gateway_bootstrap(place.namespace), place.folder, namespace=network)
        running = await stack.enter_async_context(envoy)
        client = Client(LOOPBACK, names.PORT_GATEWAY, network)
        stack.callback(client.close)
        try:
            yield Gateway(running, agent, client, cluster, account)
        finally:
            ended = running.process.returncode
            assert ended is None, f"Envoy ended with {ended}: {running.log.read_text()[-4000:]}"


def gateway_bootstrap(namespace: str) -> Manifest:
    """The metrics of simulated pods are where those of the gateway would be by default."""
    inputs = gateway_inputs(an_instance(INSTANCE, namespace, metrics_port=METRICS_PORT), wake=True)
    return resolved_here(envoy_bootstrap(inputs))


def resolved_here(bootstrap: Manifest) -> Manifest:
    """As rendered, but for the resolver."""
    resolver = engine_cluster(bootstrap)["typed_dns_resolver_config"]["typed_config"]
    resolver["resolvers"] = [socket_address(LOOPBACK, DNS_PORT)]
    return bootstrap


@asynccontextmanager
async def an_agent_process(
    place: Place, pod_network: PodNetwork, account: str, *flags: str
) -> AsyncGenerator[AgentProcess]:
    resolver = place.folder / "resolv.conf"
    resolver.write_text(f"nameserver {LOOPBACK}\n")
    process = await asyncio.create_subprocess_exec(
        *pod_network.prefix, "unshare", "--mount", "/bin/sh", "-c", SHELL, "sh",
        sys.executable, "-c", START, str(place.account_folder(account)), *flags,
        env={
            **agent_environment(place),
            "PATH": os.environ.get("PATH", os.defpath),
            "POD_NAMESPACE": place.namespace,
            "RESOLVER": str(resolver),
        },
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    network = f"/proc/{pod_network.relay_pid}/ns/net"
    agent = AgentProcess(process, Client(LOOPBACK, names.PORT_WAKE_METRICS, network))
    async with asyncio.TaskGroup() as group:
        group.create_task(agent.read_log(), name="the agent's log")
        try:
            await _until_synced(agent)
            yield agent
        finally:
            agent.scraper.close()
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _until_synced(agent: AgentProcess) -> None:
    async with asyncio.timeout(SECONDS):
        while agent.process.returncode is None:
            try:
                if await agent.metric("firebolt_gateway_wake_synced") == 1:
                    return
            except OSError:
                pass  # it does not listen yet
            await asyncio.sleep(0.05)
    raise AssertionError(f"the agent ended: {agent.lines}")
