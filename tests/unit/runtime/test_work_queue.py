"""The order in which keys are handed out, and that none is handed out twice at a time or forgotten."""

import asyncio
import random
from datetime import timedelta

import pytest

from firebolt_operator.runtime.work_queue import FAIR_SHARE, QUICK_RETRIES, Priority, WorkQueue
from tests.support.manual_clock import ManualClock, idle
from tests.support.recorders import QueueNotes

URGENT, EVENT, RESYNC = Priority.URGENT, Priority.EVENT, Priority.RESYNC
SECOND = timedelta(seconds=1)


def a_queue(clock: ManualClock | None = None, notes: QueueNotes | None = None) -> WorkQueue[str]:
    return WorkQueue(clock or ManualClock(), notes or QueueNotes())


async def take(queue: WorkQueue[str], number: int = 1, lowest: Priority = RESYNC) -> list[str]:
    """Hand out and finish."""
    keys: list[str] = []
    for _ in range(number):
        async with asyncio.timeout(1):
            job = await queue.get(lowest)
        assert job is not None
        queue.done(job.key)
        keys.append(job.key)
    return keys


async def test_given_one_priority_then_first_in_is_first_out_and_equal_keys_are_one() -> None:
    queue = a_queue()
    for key in ("a", "b", "a", "c", "b"):
        queue.add(key)
    assert await take(queue, 3) == ["a", "b", "c"]
    assert sum(queue.depths().values()) == 0


async def test_given_three_priorities_then_urgent_goes_before_events_and_those_before_resyncs() -> None:
    queue = a_queue()
    for key, priority in (("r", RESYNC), ("e", EVENT), ("u", URGENT), ("e2", EVENT)):
        queue.add(key, priority)
    assert queue.depths() == {"urgent": 1, "event": 2, "resync": 1}
    assert await take(queue, 4) == ["u", "e", "e2", "r"]


async def test_given_a_key_that_is_added_again_more_urgently_then_it_moves_up_and_never_down() -> None:
    queue = a_queue()
    queue.add("a", EVENT)
    queue.add("b", RESYNC)
    queue.add("b", URGENT)
    queue.add("b", RESYNC)
    assert await take(queue, 2) == ["b", "a"]


async def test_given_endless_events_then_a_resync_is_not_starved() -> None:
    queue = a_queue()
    queue.add("poll", RESYNC)
    taken: list[str] = []
    for number in range(20):
        queue.add(f"event-{number}")
        queue.add(f"urgent-{number}", URGENT)
        taken += await take(queue)
    assert taken.index("poll") == 9


@pytest.mark.parametrize("general", range(5))
async def test_given_endless_urgent_keys_and_workers_for_them_alone_then_the_fair_turn_is_not_theirs(
    general: int,
) -> None:
    """Whichever of the workers it would fall to by counting."""
    clock = ManualClock()
    queue = a_queue(clock)
    queue.add("resync", RESYNC)
    taken = list[str]()
    for number in range(4 * FAIR_SHARE):
        clock.elapsed += 1
        queue.add(f"urgent {number}", URGENT)
        queue.add(f"urgent {number} too", URGENT)
        taken += await take(queue, lowest=RESYNC if number % 5 == general else URGENT)
    assert "resync" in taken[: 2 * FAIR_SHARE]


async def test_given_groups_then_they_take_turns_and_a_crowd_keeps_nobody_waiting() -> None:
    queue: WorkQueue[str] = WorkQueue(ManualClock(), QueueNotes(), group_of=lambda key: key[0])
    for key in ("a1", "a2", "a3", "a4", "b1", "c1", "b2"):
        queue.add(key)
    queue.add("a5", URGENT)
    assert await take(queue, 8) == ["a5", "a1", "b1", "c1", "a2", "b2", "a3", "a4"]
    assert sum(queue.depths().values()) == 0


async def test_given_a_crowd_that_never_ends_then_a_group_of_one_is_handed_out_every_other_time() -> None:
    queue: WorkQueue[str] = WorkQueue(ManualClock(), QueueNotes(), group_of=lambda key: key[0])
    for number in range(1000):
        queue.add(f"crowd-{number}")
    taken = list[str]()
    for _ in range(8):
        queue.add("only")
        taken += await take(queue)
    assert taken.count("only") == 4


async def test_given_so_many_groups_that_a_key_waits_then_every_tenth_is_the_one_that_waited_longest() -> None:
    clock = ManualClock()
    queue: WorkQueue[str] = WorkQueue(clock, QueueNotes(), group_of=lambda key: key[0])
    for number in range(20):
        queue.add(f"a{number}")
    for letter in "bcdefghijklmnop":
        queue.add(letter)
    assert await take(queue, 10) == ["a0", *"bcdefghi", "a1"]


async def test_given_a_key_under_way_then_it_is_not_handed_out_again_until_it_is_done() -> None:
    queue = a_queue()
    queue.add("a")
    first = await queue.get()
    queue.add("a", URGENT)
    queue.add("a", RESYNC)
    queue.add("b")
    assert await take(queue) == ["b"]
    assert first is not None
    queue.done("a")
    second = await queue.get()
    assert (second and second.key, second and second.priority) == ("a", URGENT)


async def test_given_delays_then_the_earliest_counts_and_a_key_comes_once() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    queue.add_after("a", 30 * SECOND)
    queue.add_after("a", 5 * SECOND)
    queue.add_after("a", 60 * SECOND)
    await clock.advance(4.9)
    before = dict(queue.depths())
    await clock.advance(0.2)
    assert (before["resync"], queue.depths()["resync"]) == (0, 1)
    assert await take(queue) == ["a"]
    await clock.advance(100)
    assert sum(queue.depths().values()) == 0


async def test_given_a_delay_that_was_overtaken_then_it_does_not_shorten_the_next_one() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    queue.add_after("b", 30 * SECOND)
    queue.add_after("a", 30 * SECOND)
    queue.add_after("a", 5 * SECOND)
    await clock.advance(5)
    assert await take(queue) == ["a"]
    queue.add_after("a", 60 * SECOND)
    await clock.advance(59)
    assert await take(queue) == ["b"]
    assert sum(queue.depths().values()) == 0


async def test_given_keys_without_a_deadline_then_those_of_one_second_come_together_and_none_too_early() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    for number in range(4):
        queue.add_after(f"{number}", timedelta(seconds=30.3 + number / 5), with_others=True)
    queue.add_after("with a deadline", 30.5 * SECOND)
    await clock.advance(30.4)
    assert sum(queue.depths().values()) == 0
    await clock.advance(0.2)
    assert await take(queue) == ["with a deadline"]
    await clock.advance(0.5)
    assert await take(queue, 4) == ["0", "1", "2", "3"]


async def test_given_an_event_before_a_delay_is_over_then_both_lead_to_a_pass() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    queue.add_after("a", 5 * SECOND)
    queue.add("a")
    assert await take(queue) == ["a"]
    await clock.advance(5)
    assert await take(queue) == ["a"]


async def test_given_retries_then_delays_double_from_5_ms_to_a_minute_until_forgotten() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    delays: list[float] = []
    for _ in range(17):
        queue.retry("a")
        assert clock.next_due is not None
        delays.append(clock.next_due)
        await clock.advance(clock.next_due)
        assert await take(queue) == ["a"]
    assert delays == pytest.approx([min(0.005 * 2**n, 60) for n in range(17)])
    queue.forget("a")
    queue.retry("a")
    assert clock.next_due == pytest.approx(0.005)


async def test_given_a_key_that_fails_for_long_then_it_goes_no_more_before_those_that_wait_for_a_first_look() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    for failures in range(QUICK_RETRIES + 1):
        queue.retry("fails", URGENT)
        queue.add(f"first-look-{failures}", RESYNC)
        await clock.advance(1)
        first, second = await take(queue, 2)
        assert (first == "fails") == (failures < QUICK_RETRIES), f"after {failures} failures"
        assert {first, second} == {"fails", f"first-look-{failures}"}


async def test_given_an_urgent_worker_then_it_takes_nothing_else() -> None:
    queue = a_queue()
    taken: list[str] = []

    async def work(lowest: Priority) -> None:
        while (job := await queue.get(lowest)) is not None:
            taken.append(job.key)

    async with asyncio.TaskGroup() as group:
        group.create_task(work(URGENT), name="urgent worker")
        await idle()
        queue.add("event")
        await idle()
        queue.add("urgent", URGENT)
        await idle()
        queue.close()
    assert taken == ["urgent"]


async def test_given_a_worker_that_takes_another_key_than_it_was_woken_for_then_an_idle_one_takes_that() -> None:
    queue = a_queue()
    taken: list[str] = []

    async def work(lowest: Priority) -> None:
        job = await queue.get(lowest)
        if job is not None:
            taken.append(job.key)

    async with asyncio.TaskGroup() as group:
        for lowest in (RESYNC, URGENT, RESYNC):
            group.create_task(work(lowest), name=f"worker {lowest}")
        await idle()
        queue.add("event")
        queue.add("urgent", URGENT)
        await idle()
        assert taken == ["urgent", "event"]
        queue.close()


async def test_given_a_worker_woken_and_cancelled_at_once_then_another_takes_the_key() -> None:
    queue = a_queue()
    taken: list[str] = []

    async def work() -> None:
        job = await queue.get()
        if job is not None:
            taken.append(job.key)

    async with asyncio.TaskGroup() as group:
        first = group.create_task(work(), name="first")
        group.create_task(work(), name="second")
        await idle()
        queue.add("a")
        first.cancel()
    assert taken == ["a"]


async def test_given_a_closed_queue_then_workers_get_nothing_more() -> None:
    clock = ManualClock()
    queue = a_queue(clock)
    queue.add_after("later", SECOND)
    queue.add("a")
    queue.close()
    assert await queue.get() is None
    assert clock.next_due is None


async def test_given_waiting_and_working_then_the_recorder_hears_how_long() -> None:
    clock, notes = ManualClock(), QueueNotes()
    queue = a_queue(clock, notes)
    queue.add("a")
    await clock.advance(3)
    assert queue.oldest_age() == 3
    await queue.get()
    await clock.advance(2)
    assert queue.running_ages() == [2]
    queue.done("a")
    queue.retry("a")
    assert (notes.adds, notes.retries, notes.waits, notes.works) == (1, 1, [3], [2])


@pytest.mark.parametrize("seed", range(60))
async def test_given_random_additions_then_no_event_is_lost_and_no_two_passes_of_a_key_overlap(seed: int) -> None:
    """Every addition is followed by a pass that began after it."""
    rng, clock = random.Random(seed), ManualClock()
    queue = a_queue(clock)
    keys = [f"key-{number}" for number in range(6)]
    versions = dict.fromkeys(keys, 0)  # what happened
    seen = dict.fromkeys(keys, 0)  # what a pass knows
    under_way: set[str] = set()

    async def work(lowest: Priority) -> None:
        while (job := await queue.get(lowest)) is not None:
            assert job.key not in under_way
            under_way.add(job.key)
            known = versions[job.key]
            await clock.sleep(rng.choice([0, 0, 0.5, 3]))
            seen[job.key] = known
            under_way.remove(job.key)
            if rng.random() < 0.2:
                queue.retry(job.key, job.priority)
            else:
                queue.forget(job.key)
            queue.done(job.key)

    async with asyncio.TaskGroup() as group:
        for lowest in (RESYNC, RESYNC, RESYNC, URGENT):
            group.create_task(work(lowest), name=f"worker {lowest}")
        for _ in range(120):
            key = rng.choice(keys)
            versions[key] += 1
            priority = rng.choice(list(Priority))
            if rng.random() < 0.3:
                queue.add_after(key, SECOND * rng.uniform(0, 5), priority)
            else:
                queue.add(key, priority)
            await clock.advance(rng.choice([0, 0, 0.1, 1]))
        await clock.advance(600)
        queue.close()
    assert seen == versions
