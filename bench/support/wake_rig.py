"""One gateway and many parked engines, and when what happened to them: as one outsider's watches tell."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from bench.support.crowd import for_each
from bench.support.fleet import INSTANCE, engine_name
from bench.support.name_server import a_name_server
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_operator.api import names
from firebolt_operator.api.resources import ENDPOINT_SLICES, FIREBOLT_ENGINES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.wake.decide.slices import decode_slice
from tests.api.wake.place import Place
from tests.api.waking.cluster import running_cluster
from tests.api.waking.gateway import LOOPBACK, AgentProcess, an_agent_process, gateway_bootstrap
from tests.support.dataplane.client import Client
from tests.support.dataplane.envoy import Envoy, running_envoy

HOLD_SECONDS: Final = 120.0
ADMIN: Final = f"--envoy-admin-url=http://{LOOPBACK}:{names.PORT_ENVOY_ADMIN}"


@dataclass(frozen=True, slots=True)
class Site:
    """Where the benchmark runs."""

    plane: ControlPlane
    client: KubeClient
    network: PodNetwork
    namespace: str
    folder: Path

    @property
    def network_file(self) -> str:
        return f"/proc/{self.network.relay_pid}/ns/net"

    @property
    def place(self) -> Place:
        return Place(self.plane, self.client, self.namespace, self.folder)


@dataclass(frozen=True, slots=True)
class Gateway:
    client: Client
    envoy: Envoy
    agent: AgentProcess


@dataclass(frozen=True, slots=True)
class Wake:
    """Seconds."""

    to_replicas: float  # from the query's arrival to spec.replicas in the API server
    to_endpoint: float  # from there to the first ready endpoint
    to_answer: float  # from there to the answer
    status: int


@asynccontextmanager
async def a_gateway(site: Site, corefile: str) -> AsyncGenerator[Gateway]:
    """Engines answer, names resolve, and one gateway pod stands before them."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(a_name_server(site.plane, site.network, corefile))
        await stack.enter_async_context(running_cluster(site.client, site.namespace, site.network_file))
        account = names.gateway_name(INSTANCE)
        agent = await stack.enter_async_context(
            an_agent_process(site.place, site.network, account, ADMIN, "--fallback-hold-cap=2000")
        )
        bootstrap = gateway_bootstrap(site.namespace)
        envoy = await stack.enter_async_context(running_envoy(bootstrap, site.folder, namespace=site.network_file))
        client = Client(LOOPBACK, names.PORT_GATEWAY, site.network_file)
        stack.callback(client.close)
        yield Gateway(client, envoy, agent)


class _Meta(msgspec.Struct):
    name: str = ""


class _Spec(msgspec.Struct):
    replicas: int = 0


class _Status(msgspec.Struct):
    phase: str = ""


class _Engine(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(slots=True)
class Outsider:
    replicas_at: dict[str, float] = field(default_factory=dict[str, float])
    ready_at: dict[str, float] = field(default_factory=dict[str, float])
    phases: dict[str, str] = field(default_factory=dict[str, str])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def engine(self, body: bytes) -> None:
        seen = msgspec.json.decode(body, type=_Engine)
        self.phases[seen.metadata.name] = seen.status.phase
        if seen.spec.replicas:
            self.replicas_at.setdefault(seen.metadata.name, now())
        else:
            self.replicas_at.pop(seen.metadata.name, None)

    def endpoints(self, body: bytes) -> None:
        view = decode_slice(body)
        if view.ready_addresses:
            self.ready_at.setdefault(view.engine, now())
        else:
            self.ready_at.pop(view.engine, None)

    async def until_stopped(self, engines: list[str]) -> None:
        while any(self.phases.get(name) != "stopped" or name in self.ready_at for name in engines):
            self.changed.clear()
            await self.changed.wait()

    async def until_up(self, engine: str) -> None:
        """The answer to a query may be here before its watch tells why."""
        async with asyncio.timeout(HOLD_SECONDS):
            while engine not in self.replicas_at or engine not in self.ready_at:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def an_outsider(client: KubeClient, namespace: str) -> AsyncGenerator[Outsider]:
    outsider = Outsider()
    takers = ((FIREBOLT_ENGINES, outsider.engine), (ENDPOINT_SLICES, outsider.endpoints))
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_follow(client, Scope(resource=resource, namespace=namespace), outsider, take))
            for resource, take in takers
        ]
        yield outsider
        for task in tasks:
            task.cancel()


async def _follow(client: KubeClient, scope: Scope, outsider: Outsider, take: Callable[[bytes], None]) -> None:
    version = ""
    async with aclosing(client.pages(scope)) as pages:
        async for page in pages:
            version = page.resource_version
            for body in page.items:
                take(body)
    async with aclosing(client.watch(scope, resource_version=version)) as events:
        async for event in events:
            if event.type in {"ADDED", "MODIFIED"}:
                take(event.body)
                outsider.changed.set()
    raise RuntimeError(f"the watch of {scope.resource.plural} ended")


def now() -> float:
    return asyncio.get_running_loop().time()


async def make_engines(site: Site, count: int) -> list[str]:
    engines = [engine_name(number) for number in range(count)]
    await for_each(count, lambda number: site.client.create(_engine(site.namespace, engines[number])))
    return engines


def _engine(namespace: str, name: str) -> Manifest:
    return {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"instanceRef": INSTANCE, "replicas": 0, "autoStop": {"enabled": True, "activeReplicas": 1}},
    }


async def stop_engines(site: Site, outsider: Outsider, engines: list[str]) -> None:
    async def stop(number: int) -> None:
        ref = Ref(FIREBOLT_ENGINES, site.namespace, engines[number])
        await site.client.merge_patch(ref, {"spec": {"replicas": 0}})

    await for_each(len(engines), stop)
    await outsider.until_stopped(engines)


async def wake_engines(gateway: Gateway, outsider: Outsider, engines: list[str], at_once: int) -> list[Wake]:
    """So many are under way at a time, begun one after the other: wakes of a day, not a stampede."""
    waiting, found = list(reversed(engines)), list[Wake]()

    async def lane(number: int) -> None:
        await asyncio.sleep(number * 0.3)
        while waiting:
            found.append(await _wake(gateway, outsider, waiting.pop()))

    async with asyncio.TaskGroup() as group:
        for number in range(at_once):
            group.create_task(lane(number))
    return found


async def _wake(gateway: Gateway, outsider: Outsider, engine: str) -> Wake:
    arrived_at = now()
    answer = await gateway.client.query("/?id=wake", engine, deadline=HOLD_SECONDS)
    answered_at = now()
    await outsider.until_up(engine)
    replicas_at, ready_at = outsider.replicas_at[engine], outsider.ready_at[engine]
    return Wake(replicas_at - arrived_at, ready_at - replicas_at, answered_at - ready_at, answer.status)
