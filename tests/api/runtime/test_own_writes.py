"""A cache knows our own writes before the watch does, and no late event takes them back."""

import asyncio
import random

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.runtime.cache import Cache
from tests.api.runtime.config_maps import (
    ConfigMap,
    a_cache,
    a_client,
    a_config_map,
    following,
    ref_to,
    server_state,
)

NAMES = [f"settings-{number}" for number in range(6)]
STEPS = 60


class Witness:
    """Hears every change of a cache, and objects when it goes back."""

    def __init__(self, cache: Cache[ConfigMap]) -> None:
        self.highest: dict[tuple[str, str], int] = {}
        self.went_back: list[str] = []
        self.dead: set[str] = set()
        cache.subscribe(self.hear)

    def hear(self, _old: ConfigMap | None, new: ConfigMap | None) -> None:
        if new is None:
            return
        version = int(new.metadata.resource_version)
        if version < self.highest.get(new.key, 0) or new.metadata.uid in self.dead:
            self.went_back.append(f"{new.key} at {version}")
        self.highest[new.key] = version


async def test_given_writes_deletes_and_recreations_of_our_own_and_of_others_then_the_cache_never_goes_back(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with a_client(control_plane.kubeconfig) as ours, a_client(control_plane.kubeconfig) as theirs:
        cache = a_cache(namespace)
        ours.add_observer(cache)
        witness = Witness(cache)
        async with following(ours, cache) as followed:
            async with asyncio.TaskGroup() as group:
                for number, name in enumerate(NAMES):
                    rng = random.Random(number)
                    group.create_task(act(ours, cache, witness, name, rng), name=f"ours {name}")
                    group.create_task(disturb(theirs, namespace, name, rng), name=f"theirs {name}")
            expected = await server_state(ours, cache)
            await followed.until(lambda: followed.state() == expected)
    assert witness.went_back == []


async def act(client: KubeClient, cache: Cache[ConfigMap], witness: Witness, name: str, rng: random.Random) -> None:
    """What we wrote is known at once; what we deleted is gone at once."""
    (namespace,) = cache.coverage.namespaces
    key = (namespace, name)
    for step in range(STEPS):
        known = cache.get(key)
        if known is not None and rng.random() < 0.3:
            await client.delete(ref_to(namespace, name), uid=known.metadata.uid)
            witness.dead.add(known.metadata.uid)
            found = cache.get(key)
            assert found is None or found.metadata.uid != known.metadata.uid
            continue
        stored = await client.apply(a_config_map(namespace, name, step=str(step)))
        version = int(stored["metadata"]["resourceVersion"])
        assert cache.version(key) >= version or cache.watermark(namespace) > version


async def disturb(client: KubeClient, namespace: str, name: str, rng: random.Random) -> None:
    for step in range(STEPS // 2):
        stored = await client.apply(a_config_map(namespace, name, disturbed=str(step)))
        if rng.random() < 0.3:
            await client.delete(ref_to(namespace, name), uid=stored["metadata"]["uid"])
