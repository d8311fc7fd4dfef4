"""Everything that runs beside Envoy, put together: it watches endpoints, holds queries and asks for engines."""

import asyncio
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, Never, Protocol

from firebolt_operator.api.resources import ENDPOINT_SLICES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.kube.reading import KubeReader
from firebolt_operator.kube.transport import Transport
from firebolt_operator.kube.writing import KubeWriter, WriteRules
from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.metrics import LoopMetrics, Metrics, RequestMetrics
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.connections import WATCHING_LIMITS
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.loop_lag import LoopLag
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.arrivals import Arrivals
from firebolt_operator.wake.decide.slices import BY_ENGINE, SliceView, decode_slice, engines_of
from firebolt_operator.wake.decide.wake_books import wake_books
from firebolt_operator.wake.envoy_admin import EnvoyAdmin, admin_session
from firebolt_operator.wake.farewell import Farewell
from firebolt_operator.wake.hold_handler import HoldHandler
from firebolt_operator.wake.hold_times import HoldTimes
from firebolt_operator.wake.holds import Holds
from firebolt_operator.wake.memory import EnvoyMemory
from firebolt_operator.wake.metrics import Levels, WakeMetrics
from firebolt_operator.wake.own_instance import OwnInstance
from firebolt_operator.wake.readiness import MOST_BLIND_SECONDS, Readiness
from firebolt_operator.wake.requester import WakeRequester
from firebolt_operator.wake.routing import EnvoyRoutes, Resolve, Routes
from firebolt_operator.wake.server import hold_app, serving, with_health
from firebolt_operator.wake.settings import AgentSettings
from firebolt_operator.wake.unwakeable import UnwakeableEngines

FIELD_MANAGER: Final = "firebolt-wake-agent"
PATCH_SECONDS: Final = 10.0
LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - metrics are for whoever watches the pod


class Service(Protocol):
    @property
    def name(self) -> str: ...
    async def run(self) -> Never: ...


@dataclass(frozen=True, slots=True)
class Door:
    """To the API server."""

    reader: Reader
    writer: Writer


@dataclass(frozen=True, slots=True)
class Agent:
    handler: HoldHandler
    metrics: Metrics
    recorder: WakeMetrics
    services: Sequence[Service]


@dataclass(frozen=True, slots=True)
class Ports:
    hold: int
    metrics: int


@dataclass(frozen=True, slots=True)
class RunningAgent:
    ports: Ports
    farewell: Farewell


@asynccontextmanager
async def opened_door(credentials: Credentials, metrics: Metrics) -> AsyncGenerator[Door]:
    transport = Transport(credentials, recorder=RequestMetrics(metrics, credentials.server))
    rules = WriteRules(field_manager=FIELD_MANAGER, timeout_seconds=PATCH_SECONDS)
    try:
        yield Door(
            KubeReader(transport, random.Random()), KubeWriter(transport, Kinds(transport, [FIREBOLT_ENGINES]), rules)
        )
    finally:
        await transport.aclose()


def _slice_cache(namespace: str) -> Cache[SliceView]:
    coverage = Coverage(namespaces=(namespace,))
    return Cache(ENDPOINT_SLICES, decode_slice, coverage=coverage, indexes={BY_ENGINE: engines_of})


def build_agent(
    settings: AgentSettings, door: Door, admin: EnvoyAdmin, routes: Routes, clock: Clock, metrics: Metrics
) -> Agent:
    cache = _slice_cache(settings.namespace)
    informer = Informer(cache, door.reader, clock, random.Random(), ask_seconds=MOST_BLIND_SECONDS)
    seen = CacheMetrics(metrics)
    seen.shows(informer.name, cache)
    seen.follows(informer.name, informer)
    holds, readiness = Holds(), Readiness(cache, clock, settings.hold_timeout, informer.blind_seconds)
    memory = EnvoyMemory(admin, settings.limits, clock)
    unwakeable = UnwakeableEngines(holds, clock, readiness.has_endpoints)
    books = wake_books(readiness.is_known, is_waiting=lambda engine: holds.count(engine) > 0)
    levels = Levels(
        pending_holds=holds.by_engine,
        is_engine=books.is_known,
        hold_cap=memory.cap,
        demand_dropped=lambda: books.strangers.dropped,
        is_synced=lambda: readiness.is_synced,
        ready_engines=readiness.ready_engines,
    )
    recorder = WakeMetrics(metrics, levels)
    requester = WakeRequester(door.writer, settings.namespace, clock, books, recorder, unwakeable.refuse)
    arrivals = Arrivals(readiness, holds, routes, clock)
    times = HoldTimes(clock, recorder, lambda engine: holds.count(engine) > 0)
    readiness.listen(ready=times.ready)
    readiness.listen(ready=holds.release)
    for forget in (requester.forget, unwakeable.forget):
        readiness.listen(ready=forget, arriving=forget)
    handler = HoldHandler(
        readiness=readiness,
        holds=holds,
        unwakeable=unwakeable,
        demand=requester.demand,
        books=books,
        hold_began=arrivals.look_at,
        cap=memory.cap,
        clock=clock,
        hold_timeout=settings.hold_timeout,
        times=times,
    )
    readiness.listen(gone=handler.vanished)
    lag = LoopLag(clock, LoopMetrics(metrics).lagged)
    return Agent(handler, metrics, recorder, (informer, memory, requester, arrivals, lag))


@asynccontextmanager
async def running_agent(
    settings: AgentSettings, credentials: Credentials, resolve: Resolve, clock: Clock
) -> AsyncGenerator[RunningAgent]:
    """The listeners open at once, whether or not the API server is there: without it queries just go on."""
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(opened_door(credentials, metrics))
        admin = EnvoyAdmin(settings.envoy_admin_url, await stack.enter_async_context(admin_session()))
        routes = EnvoyRoutes(admin, settings.namespace, resolve)
        agent = build_agent(settings, door, admin, routes, clock, metrics)
        await stack.enter_async_context(_running(agent.services))
        instance = OwnInstance(door.reader, _instance_ref(settings))
        farewell = Farewell(agent.handler.answer, admin, clock, settings.drain_timeout, instance.is_deleted)
        holds = hold_app(farewell.answer, agent.recorder)
        on_loopback, for_all = BindAddress(LOOPBACK, settings.hold_port), BindAddress(EVERYWHERE, settings.metrics_port)
        hold_port = await stack.enter_async_context(serving(holds, on_loopback))
        scrapes = with_health(metrics_app(metrics.render, None))
        metrics_port = await stack.enter_async_context(serving(scrapes, for_all, WATCHING_LIMITS))
        yield RunningAgent(Ports(hold_port, metrics_port), farewell)


def _instance_ref(settings: AgentSettings) -> Ref | None:
    return Ref(FIREBOLT_INSTANCES, settings.namespace, settings.instance) if settings.instance else None


@asynccontextmanager
async def _running(services: Sequence[Service]) -> AsyncGenerator[None]:
    """The first failure of one ends all, and the block with them."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(service.run(), name=service.name) for service in services]
        yield
        for task in tasks:
            task.cancel()
