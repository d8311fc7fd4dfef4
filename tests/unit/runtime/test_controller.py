"""Every way a pass can end, and what happens next."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from firebolt_operator.errors import FencedError, SpecRejectedError, TransientError
from firebolt_operator.look_again import After, AtOnce
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import MOST_IN_A_ROW, Controller, ControllerSettings, Outcome
from firebolt_operator.runtime.work_queue import MOST_ROUNDS, Priority, WorkQueue
from tests.support.manual_clock import ManualClock, idle
from tests.support.recorders import PassNotes, QueueNotes
from tests.unit.runtime.builders import PODS, Pod, a_body, an_event, decode_pod

Step = Outcome | Exception | Callable[[], Awaitable[Outcome]]


@dataclass
class Setting:
    """A controller whose passes follow a script, one step per pass; after its end every pass says `done`."""

    script: list[Step] = field(default_factory=list[Step])
    clock: ManualClock = field(default_factory=ManualClock)
    queue_notes: QueueNotes = field(default_factory=QueueNotes)
    notes: PassNotes = field(default_factory=PassNotes)
    passes: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def controller(self, *, workers: int = 2, urgent: int = 0, deadline: float = 5.0) -> Controller[str]:
        settings = ControllerSettings[str](
            name="pods",
            describe=lambda key: {"name": key},
            workers=workers,
            urgent_workers=urgent,
            pass_deadline=timedelta(seconds=deadline),
        )
        queue: WorkQueue[str] = WorkQueue(self.clock, self.queue_notes)
        return Controller(settings, self.reconcile, queue, self.notes, self.clock)

    async def reconcile(self, key: str) -> Outcome:
        self.passes.append((key, self.clock.monotonic()))
        step = self.script.pop(0) if self.script else Outcome("done")
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Outcome) else await step()


@asynccontextmanager
async def running(controller: Controller[str]) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run(), name="controller")
        await idle()
        yield
        controller.close()


async def test_given_a_change_in_a_cache_then_the_mapped_key_gets_a_pass() -> None:
    setting = Setting()
    controller = setting.controller()
    cache: Cache[Pod] = Cache(PODS, decode_pod)
    controller.watches(cache, lambda _, new: [(new.metadata.name, Priority.URGENT)] if new else [])
    cache.end_list(cache.begin_list("", 1))
    async with running(controller):
        cache.watched("", an_event("ADDED", a_body("a", 2)))
        await idle()
    assert setting.passes == [("a", 0.0)]


async def test_given_the_first_list_then_its_keys_wait_behind_events() -> None:
    controller = Setting().controller()
    cache: Cache[Pod] = Cache(PODS, decode_pod)
    controller.watches(cache, lambda _, new: [(new.metadata.name, Priority.EVENT)] if new else [])
    listing = cache.begin_list("", 5)
    cache.listed(listing, a_body("a", 2))
    cache.end_list(listing)
    cache.watched("", an_event("ADDED", a_body("b", 6)))
    assert controller.queue.depths() == {"urgent": 0, "event": 1, "resync": 1}


async def test_given_a_deadline_to_look_again_then_the_pass_comes_then() -> None:
    setting = Setting([Outcome("waiting", After(timedelta(seconds=30)))])
    controller = setting.controller()
    async with running(controller):
        controller.queue.add("a")
        await setting.clock.advance(29)
        assert len(setting.passes) == 1
        await setting.clock.advance(1)
    assert setting.passes == [("a", 0.0), ("a", 30.0)]
    assert setting.notes.results == ["requeue_after", "success"]


async def test_given_a_settled_pass_then_the_next_look_comes_together_with_those_of_others() -> None:
    settled = Outcome("at rest", After(timedelta(seconds=30)), is_settled=True)
    setting = Setting([settled] * 4)
    controller = setting.controller()
    async with running(controller):
        for key in ("a", "b"):
            await setting.clock.advance(0.3)
            controller.queue.add(key)
        await setting.clock.advance(29.9)
        assert len(setting.passes) == 2
        await setting.clock.advance(1)
    assert [(key, round(at, 3)) for key, at in setting.passes[2:]] == [("a", 31.0), ("b", 31.0)]


async def test_given_progress_that_goes_on_then_the_next_pass_follows_at_once_and_never_in_a_busy_loop() -> None:
    setting = Setting([Outcome("next phase", AtOnce())] * (MOST_ROUNDS + 2))
    controller = setting.controller()
    async with running(controller):
        controller.queue.add("a")
        await setting.clock.advance(1)
    moments = [0.0] * (MOST_ROUNDS + 1) + [0.005, 0.015]
    assert [when for _, when in setting.passes] == pytest.approx(moments)
    assert setting.notes.results == ["requeue"] * (MOST_ROUNDS + 2) + ["success"]


@pytest.mark.parametrize(
    ("is_urgent", "expected"),
    [pytest.param(True, "aab", id="urgent-goes-first"), pytest.param(False, "aba", id="the-rest-takes-its-turn")],
)
async def test_given_progress_then_others_get_their_turn_unless_it_is_urgent(is_urgent: bool, expected: str) -> None:
    setting = Setting([Outcome("next phase", AtOnce(is_urgent=is_urgent))])
    controller = setting.controller(workers=1)
    controller.queue.add("a")
    controller.queue.add("b")
    async with running(controller):
        await idle()
    assert "".join(key for key, _ in setting.passes) == expected


async def test_given_urgent_progress_that_never_ends_then_others_get_their_turn_all_the_same() -> None:
    setting = Setting([Outcome("next", AtOnce(is_urgent=True))] * MOST_IN_A_ROW)
    controller = setting.controller(workers=1)
    controller.queue.add("a")
    controller.queue.add("b")
    async with running(controller):
        await idle()
    assert "".join(key for key, _ in setting.passes) == "a" * MOST_IN_A_ROW + "ba"


async def test_given_a_stop_then_progress_does_not_go_on() -> None:
    setting = Setting()
    controller = setting.controller()

    async def stop() -> Outcome:
        controller.close()
        return Outcome("next phase", AtOnce(is_urgent=True))

    setting.script.append(stop)
    controller.queue.add("a")
    async with running(controller):
        await idle()
    assert len(setting.passes) == 1


async def test_given_errors_then_retries_back_off_and_a_success_resets_them() -> None:
    setting = Setting([TransientError("away"), RuntimeError("a bug"), Outcome("well"), TransientError("away")])
    controller = setting.controller()
    async with running(controller):
        controller.queue.add("a")
        await setting.clock.advance(1)
        controller.queue.add("a")
        await setting.clock.advance(1)
    assert [when for _, when in setting.passes] == pytest.approx([0, 0.005, 0.015, 1, 1.005])
    assert (setting.notes.results, setting.notes.remarks) == (
        ["error", "error", "success", "error", "success"],
        ["crashed"],
    )


async def test_given_a_rejected_spec_then_there_is_no_retry_until_the_object_changes() -> None:
    setting = Setting([SpecRejectedError("spec.replicas", "too many")])
    controller = setting.controller()
    async with running(controller):
        controller.queue.add("a")
        await setting.clock.advance(1000)
        assert len(setting.passes) == 1
        controller.queue.add("a")
        await setting.clock.advance(1)
    assert (len(setting.passes), setting.notes.remarks) == (2, ["rejected"])


async def test_given_several_errors_in_one_pass_then_one_that_may_pass_is_enough_to_retry() -> None:
    mixed = ExceptionGroup("pass", [SpecRejectedError("spec", "bad"), TransientError("away")])
    setting = Setting([mixed, ExceptionGroup("pass", [SpecRejectedError("spec", "bad")])])
    controller = setting.controller()
    async with running(controller):
        controller.queue.add("a")
        await setting.clock.advance(100)
    assert (len(setting.passes), setting.notes.remarks) == (2, ["rejected"])


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(FencedError("lease lost"), id="alone"),
        pytest.param(ExceptionGroup("pass", [TransientError("x"), FencedError("lease lost")]), id="among-others"),
    ],
)
async def test_given_a_lost_lease_then_the_controller_ends(error: Exception) -> None:
    setting = Setting([error])
    controller = setting.controller()
    controller.queue.add("a")
    with pytest.raises(ExceptionGroup) as caught:
        await controller.run()
    assert caught.group_contains(FencedError)


async def test_given_a_pass_that_hangs_then_its_deadline_ends_it_and_it_is_retried() -> None:
    async def hang() -> Outcome:
        await asyncio.Event().wait()
        return Outcome("never")

    setting = Setting([hang])
    controller = setting.controller(deadline=0.01)
    async with running(controller):
        controller.queue.add("a")
        await setting.notes.has_result.wait()
        await setting.clock.advance(1)
    assert (setting.notes.results, setting.notes.remarks) == (["error", "success"], ["timed out"])


async def test_given_slow_passes_in_all_workers_then_others_run_beside_them_and_urgent_ones_never_wait() -> None:
    release = asyncio.Event()

    async def slow() -> Outcome:
        await release.wait()
        return Outcome("slow")

    setting = Setting([slow, slow])
    controller = setting.controller(workers=2, urgent=1)
    async with running(controller):
        for key in ("a", "b", "c"):
            controller.queue.add(key)
        await idle()
        controller.queue.add("switch", Priority.URGENT)
        await idle()
        begun = [key for key, _ in setting.passes]
        release.set()
        await idle()
    assert begun == ["a", "b", "switch"]
    assert setting.passes[-1][0] == "c"


async def test_given_passes_that_never_wait_then_others_on_the_loop_still_get_their_turn() -> None:
    setting = Setting()
    controller = setting.controller(workers=1)
    for number in range(50):
        controller.queue.add(f"key-{number}")
    async with running(controller):
        assert len(setting.passes) <= 21
        await idle()
        await idle()
    assert len(setting.passes) == 50


async def test_given_a_pass_under_way_when_closed_then_it_finishes_and_no_other_begins() -> None:
    release = asyncio.Event()

    async def slow() -> Outcome:
        await release.wait()
        return Outcome("finished")

    setting = Setting([slow])
    controller = setting.controller(workers=1)
    async with running(controller):
        controller.queue.add("a")
        controller.queue.add("b")
        await idle()
        controller.close()
        release.set()
    assert (setting.passes, setting.notes.results) == ([("a", 0.0)], ["success"])


async def test_given_the_same_outcome_again_then_only_the_first_is_told_at_info(
    caplog: pytest.LogCaptureFixture,
) -> None:
    waiting = Outcome("stable", After(timedelta(seconds=30)))
    setting = Setting([waiting, waiting, Outcome("gone")])
    controller = setting.controller()
    with caplog.at_level(logging.DEBUG, logger="firebolt_operator"):
        async with running(controller):
            controller.queue.add("a")
            await setting.clock.advance(60)
    told = [(record.levelname, record.__dict__["reason"]) for record in caplog.records]
    assert told == [("INFO", "stable"), ("DEBUG", "stable"), ("INFO", "gone")]
