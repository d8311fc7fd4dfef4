"""ConfigMaps as the runtime sees them: a projection, a followed cache, and ways to wait for what it learns."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest, Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import ASK_SECONDS, Informer
from firebolt_operator.runtime.objects import Key

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
LABEL = "runtime-test"
HANG_SECONDS = 120.0


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    name: str
    namespace: str
    uid: str
    resource_version: str


class ConfigMap(msgspec.Struct, frozen=True, gc=False):
    metadata: Metadata
    data: dict[str, str] = {}

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)


decode = msgspec.json.Decoder(ConfigMap).decode


def a_config_map(namespace: str, name: str, *, is_labelled: bool = True, **data: str) -> Manifest:
    labels = {LABEL: "yes"} if is_labelled else {}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def ref_to(namespace: str, name: str) -> Ref:
    return Ref(CONFIG_MAPS, namespace, name)


def a_client(kubeconfig: Path) -> KubeClient:
    return KubeClient.from_credentials(load_credentials(str(kubeconfig), {}), kinds=[CONFIG_MAPS])


def a_cache(*namespaces: str) -> Cache[ConfigMap]:
    """Filtered by label: every namespace gets ConfigMaps of the cluster's own sooner or later."""
    return Cache(CONFIG_MAPS, decode, coverage=Coverage(namespaces, labels=LABEL))


@dataclass(frozen=True)
class Followed:
    cache: Cache[ConfigMap]
    informer: Informer[ConfigMap]

    def state(self) -> dict[Key, str]:
        return {found.key: found.metadata.resource_version for found in self.cache.values()}

    async def until(self, is_reached: Callable[[], bool], seconds: float = HANG_SECONDS) -> None:
        """Looks whenever the cache learns something."""
        changed = asyncio.Event()
        self.cache.subscribe(lambda _old, _new: changed.set())
        async with asyncio.timeout(seconds):
            while not is_reached():
                changed.clear()
                await changed.wait()


@asynccontextmanager
async def following(
    client: KubeClient, cache: Cache[ConfigMap], ask_seconds: float = ASK_SECONDS
) -> AsyncGenerator[Followed]:
    informer = Informer(cache, client, SystemClock(), random.Random(), ask_seconds=ask_seconds)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run(), name="informer")
        async with asyncio.timeout(HANG_SECONDS):
            await informer.synced.wait()
        yield Followed(cache, informer)
        task.cancel()


async def server_state(client: KubeClient, cache: Cache[ConfigMap]) -> dict[Key, str]:
    """What the server itself says about everything that the cache covers."""
    state: dict[Key, str] = {}
    for part in cache.coverage.parts:
        for item in await client.list(cache.coverage.scope(CONFIG_MAPS, part)):
            metadata = item["metadata"]
            state[metadata["namespace"], metadata["name"]] = metadata["resourceVersion"]
    return state
