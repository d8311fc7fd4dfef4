"""The manager from flags to exit code: bounds, selector, credentials, then everything that runs."""

import asyncio
import logging
import random
import socket
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from firebolt_operator.api import names, resources
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import SERVICE_ACCOUNT, Credentials, load_credentials
from firebolt_operator.kube.ports import RequestRecorder
from firebolt_operator.observability.metrics import LeaderMetrics, LoopMetrics, Metrics, RequestMetrics
from firebolt_operator.policy.bounds import ResourceBounds, parse_bounds
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.clock import Clock, SystemClock
from firebolt_operator.runtime.dead_man import KernelSwitch
from firebolt_operator.runtime.doubts import Doubts
from firebolt_operator.runtime.fence import LeaseFence, OpenFence
from firebolt_operator.runtime.leader import Election, LeaseTerms
from firebolt_operator.runtime.loop_lag import LoopLag
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.runtime.process import spare_the_collector
from firebolt_operator.runtime.selectors import parse_selector
from firebolt_operator.settings import Settings
from firebolt_operator.version import current_version
from firebolt_operator.wiring.admission import build_admission
from firebolt_operator.wiring.controllers import build_controllers
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.serving import health_servers, metrics_servers

LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
KINDS = tuple(value for value in vars(resources).values() if isinstance(value, Resource))

log = logging.getLogger(__name__)


async def operate(settings: Settings, environment: Mapping[str, str], stop: asyncio.Event) -> int:
    """Runs until `stop`; the exit code."""
    try:
        bounds = _bounds(settings)
        _check_selector(settings.watch_label_selector)
        credentials = load_credentials(settings.kubeconfig, environment)
        return await _run(settings, bounds, credentials, stop)
    except ConfigurationError as err:
        log.error("cannot start", extra={"error": err})  # noqa: TRY400 - the configuration is wrong, not the code
        return 1


def _bounds(settings: Settings) -> ResourceBounds:
    bounds = parse_bounds(
        cpu=settings.engine_max_cpu,
        memory=settings.engine_max_memory,
        ephemeral_storage=settings.engine_max_ephemeral_storage,
        replicas=settings.engine_max_replicas,
    )
    if bounds:
        log.info("engine resources are bounded", extra={"bounds": str(bounds)})
    return bounds


def _check_selector(text: str) -> None:
    try:
        parse_selector(text)
    except ConfigurationError as err:
        raise ConfigurationError(f'--watch-label-selector "{text}": {err}') from err


async def _run(settings: Settings, bounds: ResourceBounds, credentials: Credentials, stop: asyncio.Event) -> int:
    metrics, clock = Metrics(), SystemClock()
    fence = _fence(settings, clock)
    recorder = _recorder(metrics, credentials, fence)
    client = KubeClient.from_credentials(credentials, fence=fence, recorder=recorder, kinds=KINDS)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(client)
        reviewing = KubeClient.from_credentials(credentials, recorder=recorder, kinds=KINDS)
        await stack.enter_async_context(reviewing)
        factory = ControllerFactory(
            settings=settings,
            bounds=bounds,
            client=client,
            clock=clock,
            metrics=metrics,
            identity=f"{socket.gethostname()}_{uuid.uuid4()}",
            admission_reader=reviewing,
        )
        manager = build_manager(factory, fence)
        _say_hello(settings, credentials)
        return await manager.run_until(stop)


def _say_hello(settings: Settings, credentials: Credentials) -> None:
    log.info("starting manager", extra={"version": current_version(), "credentials": credentials.source})
    if settings.namespaces:
        log.info("watching some namespaces only", extra={"namespaces": settings.namespaces})
    if settings.watch_label_selector:
        log.info("watching by label only", extra={"selector": settings.watch_label_selector})


def _fence(settings: Settings, clock: Clock) -> LeaseFence | OpenFence:
    if not settings.leader_elect:
        return OpenFence()
    return LeaseFence(clock, KernelSwitch(), lease_duration=15.0, renew_deadline=10.0)


def _recorder(metrics: Metrics, credentials: Credentials, fence: LeaseFence | OpenFence) -> RequestRecorder:
    requests = RequestMetrics(metrics, credentials.server)
    return Doubts(fence, requests) if isinstance(fence, LeaseFence) else requests


def build_manager(factory: ControllerFactory, fence: LeaseFence | OpenFence) -> Manager:
    built, admission = build_controllers(factory), build_admission(factory, lambda: fence.is_open)
    servers, services = metrics_servers(factory)
    lag = LoopLag(factory.clock, LoopMetrics(factory.metrics).lagged)
    health = health_servers(factory.settings.health_probe_bind_address, admission.ready or {})
    return Manager(
        servers=[*health, *servers, *admission.servers],
        informers=built.informers,
        services=[*built.services, *services, *admission.services, lag],
        controllers=[*built.controllers, *admission.controllers],
        election=_election(factory, fence) if isinstance(fence, LeaseFence) else None,
        synced=spare_the_collector,
    )


def _election(factory: ControllerFactory, fence: LeaseFence) -> Election:
    namespace = factory.settings.leader_elect_namespace or _own_namespace()
    terms = LeaseTerms(ref=Ref(LEASES, namespace, names.LEASE_NAME), identity=factory.identity)
    recorder = LeaderMetrics(factory.metrics, names.LEASE_NAME)
    return Election(terms, factory.client.leases, fence, factory.clock, random.Random(), recorder)


def _own_namespace(service_account: Path = SERVICE_ACCOUNT) -> str:
    try:
        return (service_account / "namespace").read_text().strip()
    except OSError as err:
        raise ConfigurationError(
            "--leader-elect cannot find the namespace of its lease outside a cluster; set --leader-elect-namespace"
        ) from err
