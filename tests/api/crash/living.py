"""The engine controller as a process runs it: wired as the operator wires it, ended as a kill ends it."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from tests.api.crash.mortal import MortalTransport

from firebolt_operator.engine.caches import engine_caches
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.writing import WriteRules
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.manager import Manager
from firebolt_operator.settings import parse_settings
from firebolt_operator.wiring.controllers import _engine_controller
from firebolt_operator.wiring.operate import KINDS
from firebolt_operator.wiring.parts import Parts

FLAGS: Final = ("--drain-settle=0", "--concurrent-passes=4")


@asynccontextmanager
async def engine_operator(kubeconfig: Path, namespace: str) -> AsyncGenerator[MortalTransport]:
    """A new process: no memory, empty caches, connections of its own. Ends without a goodbye."""
    transport = MortalTransport(load_credentials(str(kubeconfig), {}))
    client = KubeClient(transport, Kinds(transport, KINDS), WriteRules(), random.Random(1))
    async with client, asyncio.TaskGroup() as group:
        manager = _manager(client, namespace)
        life = group.create_task(_live(manager), name=f"operator of {namespace}")
        yield transport
        life.cancel()


async def _live(manager: Manager) -> None:
    code = await manager.run_until(asyncio.Event())
    raise AssertionError(f"the operator ended by itself with {code}")


def _manager(client: KubeClient, namespace: str) -> Manager:
    parts = Parts(
        settings=parse_settings([f"--namespaces={namespace}", *FLAGS], {}),
        bounds=parse_bounds(cpu="", memory="", ephemeral_storage=""),
        client=client,
        clock=SystemClock(),
        metrics=Metrics(),
        identity="test",
    )
    caches = engine_caches((namespace,), "")
    controller = _engine_controller(parts, caches)
    return Manager(informers=[parts.informer(cache) for cache in caches.all()], controllers=[controller])
