"""Does any query fail, run twice or run in the wrong place while generations change? None does."""

import asyncio

import pytest

from firebolt_operator.refs import Manifest
from firebolt_operator.settings import parse_settings
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.load import Load, between
from tests.support.dataplane.relocation import engine_cluster
from tests.support.dataplane.rig import Rig
from tests.support.dataplane.rollout import Rollout, retire

RESOLVER_CACHE_SECONDS = 30.0
# How long the operator keeps a generation after the switch, unless it is told otherwise.
DRAIN_SETTLE_SECONDS = parse_settings([], {}).drain_settle.total_seconds()
SENT_BEFORE_A_FLIP = 50
SENT_BEFORE_A_SWITCH = 200
SLOW_RESOLVER_RATE = 50  # queries a second


async def finished(load: Load, rig: Rig) -> None:
    found = await rig.envoy.stats("upstream_rq_retry$")
    load.report.retries = sum(found.values())
    print(load.report)


def ran_once(load: Load, rig: Rig) -> None:
    """Every query, and none twice."""
    assert rig.ledger.counts.total() == load.sent + 1  # the warm-up
    assert rig.ledger.executed_twice() == {}


@pytest.mark.parametrize("flips", [pytest.param(3, id="few"), pytest.param(50, id="fifty", marks=pytest.mark.slow)])
async def test_given_a_hundred_queries_a_second_when_generations_change_then_none_fails(rig: Rig, flips: int) -> None:
    rollout = await Rollout(rig).begin()
    load = Load(rig.client, delay=between(0.0, 0.1))
    async with asyncio.TaskGroup() as group:
        group.create_task(load.at_rate(100))
        for _ in range(flips):
            await load.until_sent(load.sent + SENT_BEFORE_A_FLIP)
            old = await rollout.switch()
            # Told to stop before the gateway has looked DNS up again: the drained answer has to be retried.
            await retire(old)
        load.is_over = True
    await finished(load, rig)
    assert load.report.failures == []
    assert load.report.sent == load.sent >= flips * SENT_BEFORE_A_FLIP
    ran_once(load, rig)
    # Whom an old generation turned away was sent again: without that, nothing is shown.
    assert load.report.retries >= len(rig.ledger.turned_away) > 0


async def strays_after_switch(rig: Rig, patience: float) -> tuple[Load, list[float]]:
    """When queries still started on the old generation a second after Envoy had let go of it, or of its patience."""
    rollout = await Rollout(rig).begin()
    load = Load(rig.client, delay=between(0.2, 2.0))
    async with asyncio.TaskGroup() as group:
        group.create_task(load.in_flight(50))
        await load.until_sent(SENT_BEFORE_A_SWITCH)
        old = await rollout.switch()
        await has_moved(rig, rollout.serving, patience)
        moved_at = asyncio.get_running_loop().time()
        await asyncio.sleep(4)
        load.is_over = True
    return load, started_late(rig, old, moved_at + 1)


async def has_moved(rig: Rig, serving: list[EnginePod], patience: float) -> bool:
    addresses = {pod.address for pod in serving}
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + patience
    while loop.time() < ends_at:
        if set(await rig.hosts()) == addresses:
            return True
        await asyncio.sleep(0.05)
    return False


def started_late(rig: Rig, pods: list[EnginePod], after: float) -> list[float]:
    addresses = {pod.address for pod in pods}
    return [each.started_at for each in rig.ledger.executions if each.pod in addresses and each.started_at > after]


async def test_given_steady_load_when_switched_then_nothing_new_starts_on_old_pods_though_they_are_healthy(
    rig: Rig,
) -> None:
    load, strays = await strays_after_switch(rig, patience=60)
    await finished(load, rig)
    assert load.report.failures == []
    assert load.report.sent == load.sent > SENT_BEFORE_A_SWITCH
    ran_once(load, rig)
    assert strays == []


def health_outranks_dns(bootstrap: Manifest) -> None:
    engine_cluster(bootstrap)["ignore_health_on_host_removal"] = False


async def test_given_that_health_outranks_dns_when_switched_then_old_pods_would_go_on_working(
    start_rig: StartRig,
) -> None:
    """The control: without the setting a generation never drains under load."""
    async with start_rig(change=health_outranks_dns) as rig:
        _, strays = await strays_after_switch(rig, patience=5)
    assert len(strays) > 10


async def switch_behind_a_slow_resolver(rig: Rig, kept_for: float) -> tuple[Load, int]:
    """The resolver goes on answering with old addresses; the old pods go after `kept_for` seconds.

    And how many queries they began after the switch.
    """
    rollout = await Rollout(rig).begin()
    load = Load(rig.client, delay=between(0.0, 0.2))
    async with asyncio.TaskGroup() as group:
        group.create_task(load.at_rate(SLOW_RESOLVER_RATE))
        await load.until_sent(SENT_BEFORE_A_FLIP)
        rig.zone.lag = RESOLVER_CACHE_SECONDS
        old = await rollout.switch()
        switched_at = asyncio.get_running_loop().time()
        await asyncio.sleep(kept_for)
        await retire(old)
        # Queries that found nobody give up after six seconds of retries; the load must outlast them.
        await asyncio.sleep(8)
        load.is_over = True
    await finished(load, rig)
    assert load.report.sent == load.sent >= kept_for * SLOW_RESOLVER_RATE
    return load, len(started_late(rig, old, switched_at))


async def test_given_a_resolver_that_lags_when_old_pods_stay_as_long_as_the_operator_keeps_them_then_no_query_fails(
    rig: Rig,
) -> None:
    load, on_old_pods = await switch_behind_a_slow_resolver(rig, DRAIN_SETTLE_SECONDS)
    assert load.report.failures == []
    ran_once(load, rig)
    # Nearly all that came while the resolver lagged: without that, nothing is shown.
    assert on_old_pods > RESOLVER_CACHE_SECONDS * SLOW_RESOLVER_RATE / 2
    assert load.report.retries >= len(rig.ledger.turned_away)


async def test_given_a_resolver_that_lags_when_old_pods_go_early_then_queries_would_fail(rig: Rig) -> None:
    """The control: this is what keeping them prevents."""
    load, _ = await switch_behind_a_slow_resolver(rig, 3.0)
    assert load.report.failures != []
    assert load.report.retries >= len(load.report.failures)  # not for want of trying
