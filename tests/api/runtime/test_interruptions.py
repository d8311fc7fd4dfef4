"""Whatever happens to the API server, every final state reaches the cache, and a pass."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import NotFoundError, OperatorError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.controller import Controller, ControllerSettings, Outcome
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.work_queue import Priority, WorkQueue
from tests.api.runtime.config_maps import (
    HANG_SECONDS,
    ConfigMap,
    Followed,
    a_cache,
    a_client,
    a_config_map,
    following,
    ref_to,
    server_state,
)
from tests.support.recorders import PassNotes, QueueNotes

NAMESPACE: Final = "default"
NAMES: Final = [f"settings-{number}" for number in range(20)]
SECRETS: Final = "/api/v1/namespaces/default/secrets"


@dataclass
class Observer:
    """A controller that only looks: what was there when the last pass of each key began."""

    followed: Followed
    seen: dict[Key, int] = field(default_factory=dict[Key, int])
    under_way: set[Key] = field(default_factory=set[Key])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def reconcile(self, key: Key) -> Outcome:
        assert key not in self.under_way, "two passes of one key at a time"
        self.under_way.add(key)
        self.seen[key] = self.followed.cache.version(key)
        await asyncio.sleep(random.uniform(0, 0.02))
        self.under_way.remove(key)
        self.changed.set()
        return Outcome("seen")

    def knows(self) -> dict[Key, str]:
        return {key: str(version) for key, version in self.seen.items() if version}


def itself(old: ConfigMap | None, new: ConfigMap | None) -> list[tuple[Key, Priority]]:
    found = new or old
    return [] if found is None else [(found.key, Priority.EVENT)]


@asynccontextmanager
async def observing(followed: Followed) -> AsyncGenerator[Observer]:
    observer = Observer(followed)
    settings = ControllerSettings[Key](
        name="observer", describe=lambda key: {"key": "/".join(key)}, pass_deadline=timedelta(seconds=5)
    )
    queue: WorkQueue[Key] = WorkQueue(SystemClock(), QueueNotes())
    controller = Controller(settings, observer.reconcile, queue, PassNotes(), SystemClock())
    controller.watches(followed.cache, itself)
    for found in followed.cache.values():
        queue.add(found.key)
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run(), name="controller")
        yield observer
        controller.close()


async def converged(client: KubeClient, followed: Followed, observer: Observer) -> None:
    """The cache, and what passes saw of it, equal the server."""
    expected = await server_state(client, followed.cache)
    await followed.until(lambda: followed.state() == expected)
    async with asyncio.timeout(HANG_SECONDS):
        while observer.knows() != expected:
            observer.changed.clear()
            await observer.changed.wait()


async def change(client: KubeClient, rng: random.Random, stop: asyncio.Event) -> int:
    """Change things until told to stop, through errors and all; how many changes were answered."""
    answered = 0
    while not stop.is_set():
        name = rng.choice(NAMES)
        try:
            if rng.random() < 0.25:
                found = await client.get(ref_to(NAMESPACE, name))
                if found is not None:
                    await client.delete(ref_to(NAMESPACE, name), uid=found["metadata"]["uid"])
            else:
                await client.apply(a_config_map(NAMESPACE, name, value=str(rng.random())))
            answered += 1
        except OperatorError:
            await asyncio.sleep(0.05)
    return answered


async def more_events(followed: Followed, number: int) -> None:
    enough = followed.informer.counts.events + number
    await followed.until(lambda: followed.informer.counts.events > enough)


StartControlPlane = Callable[..., ControlPlane]


@pytest.fixture
def plane(fresh_control_plane: StartControlPlane) -> ControlPlane:
    return fresh_control_plane(controllers=(), scheduler=False)


@pytest.mark.slow
async def test_given_an_api_server_killed_and_restarted_while_objects_change_then_all_converge(
    plane: ControlPlane,
) -> None:
    stop = asyncio.Event()
    async with (
        a_client(plane.kubeconfig) as client,
        a_client(plane.kubeconfig) as writer,
        following(client, a_cache()) as followed,
        observing(followed) as observer,
    ):
        async with asyncio.TaskGroup() as group:
            changing = group.create_task(change(writer, random.Random(1), stop), name="writer")
            for _ in range(3):
                await more_events(followed, 20)
                await asyncio.to_thread(plane.kill_apiserver)
                await asyncio.to_thread(plane.start_apiserver)
            stop.set()
        await converged(client, followed, observer)
        assert changing.result() > 60
        assert followed.informer.counts.failures >= 3


@pytest.mark.slow
async def test_given_a_forgotten_history_then_a_new_list_finds_what_changed_and_what_is_gone(
    plane: ControlPlane,
) -> None:
    async with a_client(plane.kubeconfig) as client, a_client(plane.kubeconfig) as writer:
        for name in NAMES:
            await writer.apply(a_config_map(NAMESPACE, name, value="old"))
        async with following(client, a_cache()) as followed, observing(followed) as observer:
            await converged(client, followed, observer)
            # Versions go on elsewhere, so that the cache's own is among those that are forgotten.
            for number in range(30):
                secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"noise-{number}"}}
                plane.http.create(SECRETS, secret)
            await asyncio.to_thread(plane.compact_etcd)
            gone = await writer.get(ref_to(NAMESPACE, NAMES[0]))
            assert gone is not None
            await writer.delete(ref_to(NAMESPACE, NAMES[0]), uid=gone["metadata"]["uid"])
            await writer.apply(a_config_map(NAMESPACE, NAMES[1], value="new"))
            await converged(client, followed, observer)
            assert followed.informer.counts.lists >= 2
            assert followed.cache.get((NAMESPACE, NAMES[0])) is None


async def test_given_thousands_of_quick_changes_then_the_last_one_of_each_object_reaches_a_pass(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with (
        a_client(control_plane.kubeconfig) as client,
        following(client, a_cache(namespace)) as followed,
        observing(followed) as observer,
    ):

        async def hurry(name: str) -> None:
            rng = random.Random(name)
            for step in range(40):
                stored = await client.apply(a_config_map(namespace, name, step=str(step)))
                if rng.random() < 0.1:
                    try:
                        await client.delete(ref_to(namespace, name), uid=stored["metadata"]["uid"])
                    except NotFoundError:
                        continue

        async with asyncio.TaskGroup() as group:
            for name in NAMES:
                group.create_task(hurry(name), name=name)
        await converged(client, followed, observer)
