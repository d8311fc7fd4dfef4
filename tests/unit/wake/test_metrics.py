"""Holds by outcome, how long waking takes, and names that clients make up."""

from collections.abc import Mapping

import pytest

from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.wake.decide.answers import RELEASED, SHED, TIMED_OUT
from firebolt_operator.wake.metrics import Levels, WakeMetrics
from tests.support.manual_clock import idle
from tests.support.series import samples
from tests.support.wake import HOLD_TIMEOUT, Bench, running

PREFIX = "firebolt_gateway_wake_"
KNOWN = frozenset({"eng", "other", "up"})


class Rig:
    """A bench whose holds are counted; `known` are the engines that exist."""

    def __init__(self, *, cap: int = 1000) -> None:
        self.metrics, self.known = Metrics(), set(KNOWN)
        levels = Levels(
            pending_holds=self._pending,
            is_engine=lambda name: name in self.known,
            hold_cap=lambda: cap,
            demand_dropped=lambda: 0,
            is_synced=lambda: True,
            ready_engines=lambda: 0,
        )
        self.bench = Bench(cap=cap, recorder=WakeMetrics(self.metrics, levels))
        self.bench.sync("up")

    def _pending(self) -> Mapping[str, int]:
        return self.bench.holds.by_engine()

    async def counted(self, family: str) -> dict[str, float]:
        found = await samples(self.metrics)
        return {
            name.removeprefix(PREFIX + family): value
            for name, value in found.items()
            if name.startswith(PREFIX + family) and value
        }


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_given_an_engine_that_comes_then_its_latency_counts_from_the_first_query(rig: Rig) -> None:
    bench = rig.bench
    async with running(bench) as group:
        first = group.create_task(bench.handler.answer("eng"))
        await bench.clock.advance(4)
        second = group.create_task(bench.handler.answer("eng"))
        await bench.clock.advance(3)
        bench.point("eng", "10.0.0.1")
    assert (first.result(), second.result()) == (RELEASED, RELEASED)
    assert await rig.counted("latency_seconds_count") == {"{}": 1}
    assert await rig.counted("latency_seconds_sum") == {"{}": pytest.approx(7, abs=0.3)}
    assert await rig.counted("hold_seconds_count") == {"{outcome=released}": 2}
    assert await rig.counted("hold_seconds_sum") == {"{outcome=released}": pytest.approx(10, abs=0.6)}


async def test_given_holds_that_end_without_the_engine_then_each_counts_for_its_outcome_and_none_as_woken(
    rig: Rig,
) -> None:
    bench = rig.bench
    async with running(bench) as group:
        left = group.create_task(bench.handler.answer("eng"))
        await idle()
        left.cancel()
        late = group.create_task(bench.handler.answer("other"))
        await bench.clock.advance(HOLD_TIMEOUT.total_seconds())
        await idle()
        # They come, but nobody waits for them any more.
        for engine in ("eng", "other"):
            bench.point(engine, "10.0.0.1")
            await bench.clock.advance(HOLD_TIMEOUT.total_seconds())
        assert bench.times._since == {}
    assert late.result() == TIMED_OUT
    assert await rig.counted("hold_seconds_count") == {"{outcome=left}": 1, "{outcome=timeout}": 1}
    assert await rig.counted("latency_seconds_count") == {}


async def test_given_made_up_names_then_they_share_one_series_and_engines_have_their_own(rig: Rig) -> None:
    bench = rig.bench
    async with running(bench) as group:
        names = ["eng", "eng", *(f"made-up-{number}" for number in range(100))]
        held = [group.create_task(bench.handler.answer(name)) for name in names]
        await idle()
        assert await rig.counted("pending_holds") == {"{engine=eng}": 2, "{engine=}": 100}
        for task in held:
            task.cancel()


async def test_given_no_room_then_what_is_shed_counts_for_engines_while_they_exist() -> None:
    rig = Rig(cap=0)
    for name in ("eng", "eng", "made-up", "also-made-up"):
        assert await rig.bench.ask(name) == SHED
    assert await rig.counted("shed_total") == {"{engine=eng}": 2, "{engine=}": 2}
    rig.known.discard("eng")
    assert await rig.counted("shed_total") == {"{engine=}": 2}
