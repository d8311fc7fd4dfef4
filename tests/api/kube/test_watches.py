"""Does a watch on a real API server tell everything, survive nothing silently, and say what ended it?"""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.errors import ExpiredError, TransientError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope, WatchEvent
from tests.api.kube.conftest import a_door
from tests.api.kube.objects import a_config_map, config_map_ref, config_maps_in, labelled

DEADLINE_SECONDS = 60


async def version_now(client: KubeClient, scope: Scope) -> str:
    return [page.resource_version async for page in client.pages(scope)][-1]


def told(event: WatchEvent) -> tuple[str, str]:
    return event.type, json.loads(event.body)["metadata"].get("name", "")


async def test_a_watch_tells_what_happens_in_its_scope_only(client: KubeClient, namespace: str) -> None:
    scope = config_maps_in(namespace)
    start = await version_now(client, scope)
    stored = await client.create(labelled(a_config_map(namespace)))
    await client.create(a_config_map(namespace, "foreign"))
    await client.merge_patch(config_map_ref(namespace), {"data": {"a": "1"}})
    await client.delete(config_map_ref(namespace), uid=stored["metadata"]["uid"])
    async with asyncio.timeout(DEADLINE_SECONDS), aclosing(client.watch(scope, resource_version=start)) as events:
        seen = [told(await anext(events)) for _ in range(3)]
    assert seen == [("ADDED", "settings"), ("MODIFIED", "settings"), ("DELETED", "settings")]


async def test_a_megabyte_in_one_event(client: KubeClient, namespace: str) -> None:
    scope = config_maps_in(namespace)
    start = await version_now(client, scope)
    await client.create(labelled(a_config_map(namespace, blob="x" * 1_000_000)))
    async with asyncio.timeout(DEADLINE_SECONDS), aclosing(client.watch(scope, resource_version=start)) as events:
        event = await anext(events)
    assert len(event.body) > 1_000_000


class ShortWatches(random.Random):
    """Chooses the shortest watch a test can wait for."""

    def randint(self, a: int, b: int) -> int:  # noqa: ARG002 - the signature of the standard library
        return 10


async def test_bookmarks_arrive_and_the_server_ends_the_watch(control_plane: ControlPlane, namespace: str) -> None:
    """The API server sends a bookmark two seconds before it ends a watch."""
    async with a_door(control_plane.kubeconfig) as ordinary:
        client = KubeClient(ordinary._transport, ordinary._kinds, ordinary._rules, ShortWatches())
        scope = config_maps_in(namespace)
        start = await version_now(client, scope)
        await client.create(a_config_map(namespace, "foreign"))
        seen = list[WatchEvent]()
        while not seen:  # a busy server can miss the moment, and ends the watch all the same
            async with aclosing(client.watch(scope, resource_version=start)) as events:
                seen = [event async for event in events]
    assert {event.type for event in seen} == {"BOOKMARK"}
    assert int(json.loads(seen[-1].body)["metadata"]["resourceVersion"]) > int(start)


async def first_event_of(events: AsyncGenerator[WatchEvent]) -> WatchEvent:
    async with asyncio.timeout(DEADLINE_SECONDS):
        return await anext(events)


async def test_given_a_killed_server_then_the_watch_breaks_and_the_same_door_watches_again(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    plane = await asyncio.to_thread(fresh_control_plane, controllers=(), scheduler=False)
    async with a_door(plane.kubeconfig) as client:
        scope = config_maps_in("default")
        start = await version_now(client, scope)
        await client.create(labelled(a_config_map("default", "before")))
        events = client.watch(scope, resource_version=start)
        assert told(await first_event_of(events)) == ("ADDED", "before")
        plane.kill_apiserver()
        with pytest.raises(TransientError, match="watching configmaps in default"):
            await first_event_of(events)
        with pytest.raises(TransientError, match="cannot connect"):
            await client.get(config_map_ref("default"))
        await asyncio.to_thread(plane.start_apiserver)
        start = await version_now(client, scope)
        await client.create(labelled(a_config_map("default", "after")))
        async with aclosing(client.watch(scope, resource_version=start)) as again:
            assert told(await first_event_of(again)) == ("ADDED", "after")


async def test_given_compacted_history_then_watches_and_page_tokens_expire(
    fresh_control_plane: Callable[..., ControlPlane],
) -> None:
    plane = await asyncio.to_thread(fresh_control_plane, controllers=(), scheduler=False)
    async with a_door(plane.kubeconfig) as client:
        scope = config_maps_in("default")
        for number in range(4):
            await client.create(labelled(a_config_map("default", f"settings-{number}")))
        start = await version_now(client, scope)
        pages = client.pages(scope, limit=2)
        await anext(pages)
        await client.create(labelled(a_config_map("default", "later")))
        await asyncio.to_thread(plane.compact_etcd)
        with pytest.raises(ExpiredError, match="listing configmaps in default"):
            await anext(pages)
        with pytest.raises(ExpiredError, match="watching configmaps in default"):
            await first_event_of(client.watch(scope, resource_version=start))
