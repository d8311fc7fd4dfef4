"""A cache follows its server through lists, watches, cuts and forgotten history."""

import asyncio
import itertools
import random

import pytest

from firebolt_operator.errors import ForbiddenError, TransientError
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import Informer
from firebolt_operator.runtime.live import fetch_live
from tests.support.manual_clock import ManualClock, idle
from tests.unit.runtime.builders import PODS, Pod, decode_pod, pod_ref
from tests.unit.runtime.following import following
from tests.unit.runtime.memory_reader import MemoryReader


async def test_given_objects_in_several_pages_then_all_are_listed_and_then_watched() -> None:
    reader = MemoryReader()
    for name in "abcde":
        reader.put(name)
    async with following(reader) as setting:
        assert (setting.names, setting.informer.synced.is_set()) == (list("abcde"), True)
        reader.put("f")
        reader.remove("a")
        await idle()
        assert setting.names == list("bcdef")
    assert reader.requests == ["list", "watch from 15"]


async def test_given_an_empty_server_then_the_cache_is_synced() -> None:
    async with following(MemoryReader()) as setting:
        assert setting.informer.synced.is_set()


async def test_given_a_cut_when_objects_changed_meanwhile_then_it_resumes_without_listing() -> None:
    reader = MemoryReader()
    reader.put("a")
    async with following(reader) as setting:
        reader.put("b")
        await idle()
        reader.cut()
        await idle()
        reader.remove("a")
        await setting.clock.advance(1)
        assert setting.names == ["b"]
    assert reader.requests == ["list", "watch from 11", "ask", "watch from 12"]


async def test_given_a_forgotten_history_then_it_lists_again_and_reports_what_is_gone() -> None:
    reader = MemoryReader()
    reader.put("a")
    gone: list[str] = []

    def hear(old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is None:
            gone.append(old.metadata.name)

    async with following(reader) as setting:
        setting.informer.cache.subscribe(hear)
        reader.bookmark()
        await idle()
        reader.cut()
        reader.remove("a")
        reader.put("b")
        reader.compacted = reader.version
        await setting.clock.advance(3)
        assert (setting.names, gone) == (["b"], ["a"])
    assert reader.requests == ["list", "watch from 11", "ask", "watch from 11", "list", "watch from 13"]


async def test_given_a_bookmark_then_the_next_watch_starts_there() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        reader.version = 500
        reader.bookmark()
        await idle()
        reader.compacted = 400
        reader.cut()
        await setting.clock.advance(1)
    assert reader.requests == ["list", "watch from 10", "ask", "watch from 500"]


async def test_given_a_server_that_is_away_then_waits_double_with_jitter_and_start_over_after_success() -> None:
    reader = MemoryReader(failures=[TransientError("connection refused") for _ in range(8)])
    waits: list[float] = []
    async with following(reader) as setting:
        while not setting.informer.synced.is_set():
            wait = setting.clock.next_due
            assert wait is not None
            waits.append(wait)
            await setting.clock.advance(wait)
        steps = [0.5, 1, 2, 4, 8, 16, 30, 30]
        assert all(step / 2 <= wait <= step for wait, step in zip(waits, steps, strict=True))
        reader.cut()
        await idle()
        assert setting.clock.next_due is not None
        assert setting.clock.next_due <= 0.5


async def test_given_missing_permission_then_it_goes_on_asking() -> None:
    reader = MemoryReader(failures=[ForbiddenError("pods is forbidden", status=403)])
    async with following(reader) as setting:
        assert not setting.informer.synced.is_set()
        await setting.clock.advance(1)
        assert setting.informer.synced.is_set()


async def test_given_two_namespaces_then_each_has_its_own_list_and_watch() -> None:
    reader = MemoryReader()
    for namespace in ("x", "y", "z"):
        reader.put("a", namespace)
    async with following(reader, Coverage(namespaces=("x", "y"))) as setting:
        reader.put("b", "y")
        reader.put("b", "z")
        await idle()
        found = [(pod.metadata.namespace, pod.metadata.name) for pod in setting.informer.cache.values()]
        assert found == [("x", "a"), ("y", "a"), ("y", "b")]
    assert sorted(reader.requests) == ["list x", "list y", "watch from 13 x", "watch from 13 y"]


async def test_given_silence_then_staleness_grows_until_something_is_heard() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        await setting.clock.advance(70)
        stale = setting.informer.staleness()
        reader.bookmark()
        await idle()
        assert (stale, setting.informer.staleness()) == (70.0, 0.0)


async def test_given_a_live_read_then_the_cache_learns_from_it() -> None:
    reader = MemoryReader()
    reader.put("a")
    cache = Cache(PODS, decode_pod)
    cache.unanswered(pod_ref())
    pod = await fetch_live(cache, reader, pod_ref())
    assert pod is not None
    assert (cache.get(("ns", "a")), cache.is_suspect(("ns", "a"))) == (pod, False)
    del reader.objects["ns", "a"]
    assert await fetch_live(cache, reader, pod_ref()) is None
    assert cache.get(("ns", "a")) is None


@pytest.mark.parametrize("size", [1000])
async def test_given_many_objects_in_one_page_then_others_get_their_turn_while_they_are_taken_in(size: int) -> None:
    reader = MemoryReader()
    for number in range(size):
        reader.put(f"pod-{number}")
    cache = Cache(PODS, decode_pod)
    informer = Informer(cache, reader, ManualClock(), random.Random(1), page_size=size)
    sizes: list[int] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run(), name="informer")
        while not informer.synced.is_set():
            sizes.append(len(cache))
            await asyncio.sleep(0)
        task.cancel()
    assert max(after - before for before, after in itertools.pairwise(sizes)) <= 100
