"""The operator as a process runs it: wired as the operator wires it, ended as a kill ends it."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.instance.observe.caches import instance_caches
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.writing import WriteRules
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.fence import OpenFence
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.authentication import build_authentication
from firebolt_operator.wiring.controllers import _engine_controller, _instance_controller
from firebolt_operator.wiring.encryption import build_encryption
from firebolt_operator.wiring.factory import ControllerFactory
from firebolt_operator.wiring.operate import KINDS, build_manager
from tests.api.crash.mortal import MortalTransport

FLAGS: Final = ("--drain-settle=0", "--health-probe-bind-address=0", "--wake-agent-image=op:1")


Build = Callable[[ControllerFactory], Manager]


def engine_controller_only(factory: ControllerFactory) -> Manager:
    caches = engine_caches(factory.settings.namespaces, "")
    authentication = build_authentication(factory, caches)
    encryption = build_encryption(factory, caches)
    lane, controller = _engine_controller(factory, caches, authentication, encryption)
    informers = [factory.informer(cache) for cache in caches.all()]
    services = [lane, *authentication.services, encryption.certificates]
    return Manager(informers=informers, services=services, controllers=[controller])


def instance_controller_only(factory: ControllerFactory) -> Manager:
    namespaces = factory.settings.namespaces
    engines = engine_caches(namespaces, "")
    caches, authentication = instance_caches(engines.instances, namespaces), build_authentication(factory, engines)
    security, watches, controller = _instance_controller(factory, caches, engines, authentication)
    informers = [
        factory.informer(caches.instances),
        *(factory.informer(cache) for cache in caches.children),
        factory.informer(caches.secrets),
        factory.informer(caches.bundles, "bundles"),
        factory.informer(security.generations, "generations"),
    ]
    services = [watches, *authentication.services, *security.services]
    return Manager(informers=informers, services=services, controllers=[controller])


def whole_operator(factory: ControllerFactory) -> Manager:
    return build_manager(factory, OpenFence())


@asynccontextmanager
async def a_life(kubeconfig: Path, namespace: str, build: Build) -> AsyncGenerator[MortalTransport]:
    """A new process: no memory, empty caches, connections of its own. Ends without a goodbye."""
    transport = MortalTransport(load_credentials(str(kubeconfig), {}))
    client = KubeClient(transport, Kinds(transport, KINDS), WriteRules(), random.Random(1))
    async with client, asyncio.TaskGroup() as group:
        life = group.create_task(_live(build(_parts(client, namespace))), name=f"operator of {namespace}")
        yield transport
        life.cancel()


async def _live(manager: Manager) -> None:
    code = await manager.run_until(asyncio.Event())
    raise AssertionError(f"the operator ended by itself with {code}")


def _parts(client: KubeClient, namespace: str) -> ControllerFactory:
    return ControllerFactory(
        settings=parse_settings([f"--namespaces={namespace}", *FLAGS], {}),
        bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
        client=client,
        clock=SystemClock(),
        metrics=Metrics(),
        identity="test",
    )
