"""A new leader lists its caches anew while everything changes: afterwards they equal the server, every time."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.lease import LEASES
from firebolt_operator.observability.metrics import Metrics, RequestMetrics
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.doubts import Doubts
from firebolt_operator.runtime.fence import LeaseFence
from firebolt_operator.runtime.leader import Election, LeaseTerms
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.controllers import build_controllers
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.operate import KINDS
from tests.support.crds import install_crds
from tests.support.recorders import LeaderNotes

if TYPE_CHECKING:
    from firebolt_operator.runtime.cache import Cache
    from firebolt_operator.runtime.objects import Key

NAMESPACE: Final = "default"
ENGINES: Final = 50
EDITORS: Final = 8
TAKEOVERS: Final = 20
SETTLE_LOOKS: Final = 120  # a cache that went wrong never settles; everything else is a matter of moments
LEAD_SECONDS: Final = 120.0  # a lease that could not be released runs for fifteen seconds


class NoSwitch:
    """Nothing ends the process of a test, which has many leaders."""

    def arm(self, seconds: float, /) -> None: ...
    def disarm(self) -> None: ...


@dataclass(slots=True)
class FirstPass:
    """Works as controllers do: from when the caches are as new as the lease."""

    name: str = "first pass"
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self.begun.set()
        await self.closed.wait()

    def close(self) -> None:
        self.closed.set()


class Candidate:
    """The informers of the whole operator, as one of its replicas. Nothing but the watch tells them anything."""

    def __init__(self, kubeconfig: Path, number: int) -> None:
        self.kubeconfig = kubeconfig
        self.name = f"manager-{number}"
        self.stop = asyncio.Event()
        self.leading = FirstPass()
        self.caches: list[Cache[Any]] = []
        self.synced = asyncio.Event()
        self.exit_code: int | None = None

    async def live(self) -> None:
        clock, metrics, credentials = SystemClock(), Metrics(), load_credentials(str(self.kubeconfig), {})
        terms = LeaseTerms(ref=Ref(LEASES, NAMESPACE, "takeovers"), identity=self.name, retry_period=0.2)
        fence = LeaseFence(clock, NoSwitch(), terms.duration, terms.renew_deadline)
        recorder = Doubts(fence, RequestMetrics(metrics, credentials.server))
        async with KubeClient.from_credentials(credentials, fence=fence, recorder=recorder, kinds=KINDS) as client:
            factory = ControllerFactory(
                settings=parse_settings([f"--namespaces={NAMESPACE}"], {}),
                bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
                client=client,
                clock=clock,
                metrics=metrics,
                identity=self.name,
            )
            informers = build_controllers(factory).informers
            self.caches = [informer.cache for informer in informers]
            manager = Manager(
                informers=informers,
                controllers=[self.leading],
                election=Election(terms, client.leases, fence, clock, random.Random(), LeaderNotes()),
            )
            async with asyncio.TaskGroup() as group:
                running = group.create_task(manager.run_until(self.stop), name=self.name)
                for informer in informers:
                    await informer.synced.wait()
                self.synced.set()
            self.exit_code = running.result()


def an_engine(number: int) -> Manifest:
    return {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "metadata": {"name": f"engine-{number}", "namespace": NAMESPACE},
        "spec": {"instanceRef": "inst", "replicas": 1},
    }


async def edit(client: KubeClient, rng: random.Random, stop: asyncio.Event) -> None:
    """As fast as the server takes it; now and then an engine goes, and comes back."""
    while not stop.is_set():
        number = rng.randrange(ENGINES)
        ref = Ref(FIREBOLT_ENGINES, NAMESPACE, f"engine-{number}")
        try:
            stored = await client.merge_patch(ref, {"metadata": {"annotations": {"edited": str(rng.random())}}})
            if rng.random() < 0.1:
                await client.delete(ref, uid=stored["metadata"]["uid"])
                await client.create(an_engine(number))
        except OperatorError:
            continue  # another editor was quicker


async def differences(client: KubeClient, candidate: Candidate) -> list[str]:
    """Objects whose cached version is not the live one."""
    found: list[str] = []
    for cache in candidate.caches:
        live: dict[Key, int] = {}
        for part in cache.coverage.parts:
            for item in await client.list(cache.coverage.scope(cache.resource, part)):
                metadata = item["metadata"]
                live[metadata["namespace"], metadata["name"]] = int(metadata["resourceVersion"])
        keys = live.keys() | cache._entries.keys()
        found += [
            f"{cache.resource.kind} {key[1]}: cached {cache.version(key)}, live {live.get(key)}"
            for key in sorted(keys)
            if cache.version(key) != live.get(key, 0)
        ]
    return found


async def settled(client: KubeClient, candidate: Candidate) -> list[str]:
    """What still differs when all events have had ample time to arrive."""
    found = await differences(client, candidate)
    for _ in range(SETTLE_LOOKS):
        if not found:
            break
        await asyncio.sleep(0.5)
        found = await differences(client, candidate)
    return found


@pytest.mark.slow
async def test_given_engines_that_are_being_edited_when_another_manager_leads_then_its_caches_equal_the_server(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    plane = fresh_control_plane(controllers=(), scheduler=False)
    install_crds(plane.kubeconfig)
    async with KubeClient.from_credentials(load_credentials(str(plane.kubeconfig), {}), kinds=KINDS) as client:
        for number in range(ENGINES):
            await client.create(an_engine(number))
        async with asyncio.TaskGroup() as managers:
            leader = Candidate(plane.kubeconfig, 0)
            managers.create_task(leader.live(), name=leader.name)
            await leader.leading.begun.wait()
            for number in range(1, TAKEOVERS + 1):
                standby = Candidate(plane.kubeconfig, number)
                managers.create_task(standby.live(), name=standby.name)
                await standby.synced.wait()
                async with asyncio.timeout(LEAD_SECONDS), asyncio.TaskGroup() as editors:
                    pause = asyncio.Event()
                    for editor in range(EDITORS):
                        rng = random.Random(f"{number}/{editor}")
                        editors.create_task(edit(client, rng, pause), name=f"editor {editor}")
                    leader.stop.set()
                    await standby.leading.begun.wait()
                    pause.set()
                assert await settled(client, standby) == [], f"after takeover {number}"
                assert leader.exit_code == 0
                leader = standby
            leader.stop.set()
