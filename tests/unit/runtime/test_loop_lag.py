"""Is a loop that somebody blocks seen to be late?"""

import asyncio

import pytest

from firebolt_operator.observability.metrics import LoopMetrics, Metrics
from firebolt_operator.runtime.loop_lag import EVERY_SECONDS, LoopLag
from tests.support.manual_clock import ManualClock, idle
from tests.support.series import samples


async def test_given_a_loop_that_is_held_up_then_the_time_beyond_the_timer_counts() -> None:
    clock, metrics = ManualClock(), Metrics()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(LoopLag(clock, LoopMetrics(metrics).lagged).run())
        await clock.advance(2 * EVERY_SECONDS)
        clock.elapsed += EVERY_SECONDS + 0.75  # nobody came to the timer meanwhile
        await clock.advance(0)
        await idle()
        task.cancel()
    found = await samples(metrics)
    family = "firebolt_operator_event_loop_lag_seconds"
    assert found[f"{family}_count{{}}"] == 3
    assert found[f"{family}_sum{{}}"] == pytest.approx(0.75)
    assert (found[f"{family}_bucket{{le=0.5}}"], found[f"{family}_bucket{{le=1.0}}"]) == (2, 3)
