"""The operator's own pod: which one is it, when does it lead, and how is it killed?"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from firebolt_local.cluster.processes import ProcessRecord
from firebolt_local.testing.installer import NAMESPACE, RELEASE
from firebolt_operator.api.names import LEASE_NAME
from firebolt_operator.api.resources import PODS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.e2e.environment import Environment
from tests.e2e.informer import is_ready
from tests.e2e.killing import kill, process_of

LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
CONTAINER = "manager"
_LABELS = f"app.kubernetes.io/instance={RELEASE},control-plane=controller-manager"
_SECONDS = 120.0
_LOOK_EVERY_SECONDS = 0.1


@dataclass(slots=True)
class OperatorPod:
    environment: Environment
    client: KubeClient
    name: str
    process: ProcessRecord

    async def kill(self) -> None:
        """SIGKILL, and the pod with it: a container that dies again and again would be restarted ever later."""
        await asyncio.to_thread(kill, self.process)
        await self.delete()

    async def delete(self) -> None:
        ref = Ref(PODS, NAMESPACE, self.name)
        found = await self.client.get(ref)
        if found is not None:
            await self.client.delete(ref, uid=found["metadata"]["uid"])


async def leading_operator(environment: Environment, client: KubeClient) -> OperatorPod:
    """The pod that holds the lease; waits for one that does."""
    async with asyncio.timeout(_SECONDS):
        while (pod := await _leading(client)) is None:  # noqa: ASYNC110 - leases are polled by everybody
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
    process = await asyncio.to_thread(process_of, environment.cluster, pod, CONTAINER)
    return OperatorPod(environment, client, pod["metadata"]["name"], process)


async def _leading(client: KubeClient) -> Manifest | None:
    lease = await client.get(Ref(LEASES, NAMESPACE, LEASE_NAME))
    holder = str((lease or {}).get("spec", {}).get("holderIdentity", ""))
    living = [
        pod for pod in await operator_pods(client) if is_ready(pod) and "deletionTimestamp" not in pod["metadata"]
    ]
    return next((pod for pod in living if holder.startswith(pod["metadata"]["name"])), None)


async def until_one_operator(client: KubeClient) -> None:
    """One that leaves, of a test before, serves webhooks to its end."""
    async with asyncio.timeout(_SECONDS):
        while len(await operator_pods(client)) != 1:  # noqa: ASYNC110 - polls
            await asyncio.sleep(_LOOK_EVERY_SECONDS)


@asynccontextmanager
async def operator_away(environment: Environment, client: KubeClient) -> AsyncGenerator[None]:
    """It does nothing more from the beginning on, and comes back afterwards. Without SIGKILL it would take its time."""
    operator = await leading_operator(environment, client)
    await _scale(environment, 0)
    await asyncio.to_thread(kill, operator.process)
    try:
        yield
    finally:
        await _scale(environment, 1)


async def operator_pods(client: KubeClient) -> list[Manifest]:
    return await client.list(Scope(resource=PODS, namespace=NAMESPACE, labels=_LABELS))


async def _scale(environment: Environment, replicas: int) -> None:
    words = ["scale", f"deployment/{RELEASE}", f"--namespace={NAMESPACE}", f"--replicas={replicas}"]
    await asyncio.to_thread(environment.kubectl, *words)
