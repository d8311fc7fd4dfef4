"""The whole operator in one namespace of a real API server: authentication takes instances and engines."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import cast

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.reconciling.issued_views import CertificateView
from firebolt_operator.runtime.controller import Controller
from firebolt_operator.runtime.manager import Manager, Service
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.controllers import build_controllers
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.operate import KINDS
from tests.api.engine.clock import SkippingClock

SECONDS = 60.0
FLAGS = ("--metrics-bind-address=:0", "--drain-settle=0s", "--wake-agent-image=op:1")


class Requests:
    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        del code, seconds
        if verb != "watch":
            self.seen[f"{method} {resource}"] += 1


@dataclass(slots=True)
class Operator:
    namespace: str
    clock: SkippingClock
    requests: Requests
    metrics: Metrics
    controllers: tuple[Controller[Key], ...]
    certificates: OptionalKind[CertificateView]

    def nudge(self) -> None:
        """Nobody waits for half a minute in a test."""
        engines, instances, *_ = self.controllers
        for controller, name in ((engines, "eng"), (instances, "inst")):
            if not controller.queue.is_closed:
                controller.queue.add((self.namespace, name))

    def skip(self, time: timedelta) -> None:
        self.clock.skip(time)
        self.nudge()

    @property
    def instances(self) -> Controller[Key]:
        return self.controllers[1]

    async def settled(self) -> None:
        """No pass is under way, and none is about to begin."""
        queues = [controller.queue for controller in self.controllers]
        async with asyncio.timeout(SECONDS):
            while any(any(queue.depths().values()) or queue.running_ages() for queue in queues):  # noqa: ASYNC110 - a queue tells nobody
                await asyncio.sleep(0.01)

    async def next_pass(self) -> None:
        """One more pass of the instance, once all others are over."""
        await self.settled()
        self.instances.queue.add((self.namespace, "inst"))
        await self.settled()

    async def second_passes(self) -> None:
        """The server writes down whole seconds: what happens from here on is later than what happened before."""
        await asyncio.sleep(1.1)

    async def until_not_served(self) -> None:
        """The operator has noticed that cert-manager is gone."""
        async with asyncio.timeout(SECONDS):
            while self.certificates.is_served:  # noqa: ASYNC110 - nobody is told whom we could ask
                await asyncio.sleep(0.05)

    async def scraped(self) -> str:
        return (await self.metrics.render()).decode()


@asynccontextmanager
async def running_operator(kubeconfig: Path, namespace: str, *, is_confined: bool = True) -> AsyncGenerator[Operator]:
    """`is_confined`: it watches that namespace and no other."""
    requests, clock, metrics = Requests(), SkippingClock(), Metrics()
    settings = parse_settings([*FLAGS, *([f"--namespaces={namespace}"] if is_confined else [])], {})
    credentials = load_credentials(str(kubeconfig), {})
    async with KubeClient.from_credentials(credentials, recorder=requests, kinds=KINDS) as client:
        factory = ControllerFactory(
            settings=settings,
            bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
            client=client,
            clock=clock,
            metrics=metrics,
            identity="test",
        )
        built = build_controllers(factory)
        manager = Manager(informers=built.informers, services=built.services, controllers=built.controllers)
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(manager.run_until(stop), name="manager")
            try:
                yield Operator(namespace, clock, requests, metrics, built.controllers, _certificates(built.services))
            finally:
                stop.set()
                assert await running == 0
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


def _certificates(services: tuple[Service, ...]) -> OptionalKind[CertificateView]:
    found = next(each for each in services if isinstance(each, OptionalKind))
    return cast("OptionalKind[CertificateView]", found)
