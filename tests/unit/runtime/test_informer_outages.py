"""No cache stays frozen: refused and silent watches, restored backups, and lists that someone asks for."""

import asyncio
import logging

import pytest

from firebolt_operator.errors import ForbiddenError, TransientError
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.informer import ASK_SECONDS
from tests.support.manual_clock import idle
from tests.unit.runtime.following import Setting, following
from tests.unit.runtime.memory_reader import MemoryReader


async def refreshed(setting: Setting, meanwhile: float = 0.0) -> bool:
    """Whether a refresh came to its end in that time."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(setting.informer.refresh(), name="refresh")
        await setting.clock.advance(meanwhile)
        is_done = task.done()
        task.cancel()
    return is_done


async def test_given_a_watch_that_lags_when_refreshed_then_the_cache_is_as_new_as_the_call() -> None:
    reader = MemoryReader()
    reader.put("old")
    async with following(reader) as setting:
        reader.objects.clear()  # nobody is told
        reader.version += 1
        assert await refreshed(setting)
        assert setting.names == []
    assert reader.requests == ["list", "watch from 11", "list", "watch from 12"]


async def test_given_a_refresh_then_no_watch_runs_beside_its_list() -> None:
    reader = MemoryReader()
    reader.put("a")
    async with following(reader) as setting, asyncio.TaskGroup() as group:
        reader.holds_lists = asyncio.Event()
        refresh = group.create_task(setting.informer.refresh(), name="refresh")
        await idle()
        # Newer than the list, which was taken already: told beside it, this would look like a restored backup.
        reader.put("a")
        reader.put("b")
        reader.remove("b")
        await idle()
        assert (setting.informer.cache.version(("ns", "a")), refresh.done()) == (11, False)
        reader.holds_lists.set()
        await refresh
        await idle()
        assert (setting.names, setting.informer.cache.version(("ns", "a"))) == (["a"], 12)
        assert setting.informer.cache.watermark("") == reader.version
    assert reader.requests == ["list", "watch from 11", "list", "watch from 11"]


async def test_given_a_refresh_while_a_list_is_under_way_then_that_one_does_not_count() -> None:
    reader = MemoryReader(holds_lists=asyncio.Event())
    async with following(reader) as setting:
        assert reader.requests == ["list"]
        assert not await refreshed(setting)
        assert reader.holds_lists is not None
        reader.holds_lists.set()
        await idle()
    assert reader.requests[:2] == ["list", "list"]


@pytest.mark.parametrize(
    "error", [TransientError("HTTP 503"), ForbiddenError("pods is forbidden", status=403)], ids=["503", "403"]
)
async def test_given_refreshes_that_fail_then_they_are_tried_until_one_succeeds(
    error: TransientError | ForbiddenError,
) -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        reader.put("a")
        reader.failures = [error] * 3
        assert not await refreshed(setting, 0.2)
        assert await refreshed(setting, 10)
        assert setting.names == ["a"]


async def test_given_a_list_that_breaks_off_then_what_only_its_first_page_knew_is_gone_after_the_next() -> None:
    reader = MemoryReader(breaks_next_list=True)
    for name in ("a", "b", "c"):  # pages hold two
        reader.put(name)
    async with following(reader) as setting:
        assert (setting.names, setting.informer.synced.is_set()) == (["a", "b"], False)
        reader.remove("a")
        await setting.clock.advance(10)
        assert (setting.names, setting.informer.synced.is_set()) == (["b", "c"], True)
    assert reader.requests == ["list", "list", "watch from 14"]


async def test_given_a_refresh_while_waiting_for_a_next_try_then_it_does_not_wait() -> None:
    reader = MemoryReader(failures=[TransientError("connection refused")] * 6)
    async with following(reader) as setting:
        await setting.clock.advance(10)
        reader.failures.clear()
        assert await refreshed(setting)


async def test_given_watches_that_are_refused_then_it_lists_every_thirty_seconds_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader = MemoryReader(refuses_watches=True)
    async with following(reader) as setting:
        with caplog.at_level(logging.WARNING):
            for number in range(10):
                reader.put(f"pod-{number}")
                await setting.clock.advance(30)
                assert len(setting.names) == number + 1
        assert setting.informer.counts.refusals == 11
        assert setting.informer.blind_seconds() <= 30
        reader.refuses_watches = False
        await setting.clock.advance(30)
        reader.put("again")
        await idle()
        assert "again" in setting.names
    assert [record.message for record in caplog.records] == ["watch refused"]
    assert reader.requests.count("list") == 12


async def test_given_a_watch_that_worked_when_it_is_refused_then_the_next_attempt_is_a_list() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        await setting.clock.advance(60)
        reader.put("a")
        await idle()
        reader.refuses_watches = True
        reader.cut()
        reader.remove("a")
        await setting.clock.advance(2)
        assert setting.names == []
    assert reader.requests == ["list", "watch from 10", "ask", "watch from 11", "list", "watch from 12"]


async def test_given_watches_that_break_before_they_tell_anything_then_lists_take_their_place() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        for number in range(5):
            reader.cut()
            await idle()
            reader.objects["ns", f"pod-{number}"] = b'{"metadata": {"name": "%d", "resourceVersion": "10"}}' % number
            await setting.clock.advance(30)
            assert len(setting.informer.cache.broken) + len(setting.names) == number + 1
    assert reader.requests == ["list", "watch from 10"] * 6


async def test_given_one_namespace_full_of_events_then_the_ended_watches_of_another_are_noticed() -> None:
    reader = MemoryReader(ends_watches_at_once={"y"})
    async with following(reader, Coverage(namespaces=("x", "y"))) as setting:
        reader.put("late", "y")
        for number in range(590):
            reader.put(f"pod-{number}", "x")
            await setting.clock.advance(0.1)
        x, y = (setting.informer.counts_by_part()[name] for name in ("x", "y"))
        assert (x.events, x.watches, x.lists, x.short_watches) == (590, 1, 1, 0)
        assert (y.events, y.watches, y.lists, y.short_watches) == (0, 2, 2, 2)
        assert setting.informer.cache.get(("y", "late")) is not None


@pytest.mark.parametrize("ask_seconds", [ASK_SECONDS, 90.0])
async def test_given_silence_then_it_asks_now_and_then_and_watches_again(ask_seconds: float) -> None:
    reader = MemoryReader()
    async with following(reader, ask_seconds=ask_seconds) as setting:
        await setting.clock.advance(ask_seconds - 1)
        reader.bookmark()
        await setting.clock.advance(ask_seconds - 1)
        assert reader.requests == ["list", "watch from 10"]
        await setting.clock.advance(1)
        await setting.clock.advance(ask_seconds)
        reader.put("a")
        await idle()
        assert (setting.names, setting.informer.counts.asks) == (["a"], 2)
    assert reader.requests == ["list", "watch from 10", "ask", "watch from 10", "ask", "watch from 10"]


async def test_given_a_restored_backup_when_the_connection_broke_then_it_is_noticed_at_once() -> None:
    reader = MemoryReader(version=100)
    reader.put("lost")
    async with following(reader) as setting:
        reader.put("kept")
        await idle()
        reader.restore(50, "kept")
        await setting.clock.advance(2)
        assert (setting.names, setting.informer.cache.watermark("")) == (["kept"], 50)
        reader.put("new")
        await idle()
        assert setting.names == ["kept", "new"]


async def test_given_a_restored_backup_behind_a_watch_that_goes_on_silently_then_the_next_question_finds_it() -> None:
    reader = MemoryReader(version=100)
    reader.put("lost")
    async with following(reader) as setting:
        reader.restore(50, "kept")
        reader.is_cut = False  # a proxy on the way hides that the server restarted
        reader.put("unheard")
        await setting.clock.advance(ASK_SECONDS - 1)
        assert setting.names == ["lost"]
        await setting.clock.advance(2)
        assert setting.names == ["kept", "unheard"]


async def test_given_a_backup_that_overtook_us_while_nobody_answered_then_it_is_noticed() -> None:
    reader = MemoryReader(version=100)
    reader.put("a")
    async with following(reader) as setting:
        reader.bookmark()
        await idle()
        reader.restore(50, "a")
        reader.version = 1_000
        reader.failures = [TransientError("connection refused")]
        await setting.clock.advance(3)
        assert setting.informer.cache.version(("ns", "a")) == 50
        assert setting.informer.cache.watermark("") == 1_000


async def test_given_a_quiet_watch_then_the_informer_is_not_blind() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        await setting.clock.advance(200)
        assert setting.informer.blind_seconds() == 0
        assert setting.informer.staleness() == 200


async def test_given_a_server_that_is_away_then_the_informer_is_blind_since_its_watch_broke() -> None:
    reader = MemoryReader()
    async with following(reader) as setting:
        await setting.clock.advance(200)
        reader.failures = [TransientError("connection refused")] * 100
        reader.cut()
        await setting.clock.advance(95)
        assert setting.informer.blind_seconds() == 95
        reader.failures.clear()
        await setting.clock.advance(30)
        assert setting.informer.blind_seconds() == 0


async def test_given_a_server_that_answers_neither_the_watch_nor_the_question_then_silence_counts_as_well() -> None:
    reader = MemoryReader()
    async with following(reader, ask_seconds=90) as setting:
        reader.failures = [TransientError("the deadline passed")] * 100
        await setting.clock.advance(89)
        assert setting.informer.blind_seconds() == 0
        await setting.clock.advance(2)
        assert setting.informer.blind_seconds() == 91
