"""The operator starts on a cluster with a thousand hostile objects: it comes up, serves the others, names the bad."""

import time
from typing import Final

import pytest

from bench.support.operator_process import OperatorProcess
from tests.api.hostile.arena import OPERATORS_NAMESPACE, Arena, spread
from tests.api.hostile.evidence import until_all_told
from tests.api.hostile.good_engines import GoodEngines
from tests.api.hostile.traps import Told, operators_account, sorts

TENANTS: Final = ("tenant-a", "tenant-b", "tenant-c", "tenant-d")
HOSTILE: Final = 1_000
TIMES_AS_LONG: Final = 20  # as it usually takes; no measure of anything, but a hang would be longer


@pytest.mark.slow
@pytest.mark.alone
async def test_given_a_thousand_hostile_objects_when_the_operator_starts_then_the_good_are_served_and_the_bad_named(
    arena: Arena,
) -> None:
    usual, _ = await serve(arena, "quiet")
    told = await make_hostile(arena)
    with_hostile, running = await serve(arena, "busy", told)
    print(
        f"\n20 engines ready after {usual:.1f} s; among {HOSTILE} hostile objects after {with_hostile:.1f} s; {running}"
    )
    assert with_hostile < TIMES_AS_LONG * usual


async def serve(arena: Arena, namespace: str, told: list[Told] | None = None) -> tuple[float, str]:
    """From the start of the operator until the last of twenty engines is ready, which were there before it."""
    engines = GoodEngines(arena.client, namespace)
    await arena.make_namespaces(namespace)
    await engines.make()
    async with arena.operator() as operator:
        began_at = time.monotonic()
        await engines.until_ready()
        seconds = time.monotonic() - began_at
        if told is not None:
            await until_all_told(arena.client, told, operator.log, (*TENANTS, OPERATORS_NAMESPACE))
            unreadable = sum(each.is_unreadable for each in told)
            assert await arena.metric("firebolt_operator_cache_broken_objects") == unreadable
        return seconds, _cost(operator, time.monotonic() - began_at)


def _cost(operator: OperatorProcess, seconds: float) -> str:
    used = operator.usage()
    return f"all named after {seconds:.1f} s, {used.cpu_seconds:.1f} s of CPU, at most {used.peak_rss_mib:.0f} MiB"


async def make_hostile(arena: Arena) -> list[Told]:
    await arena.make_namespaces(OPERATORS_NAMESPACE)
    for tenant in TENANTS:
        await arena.make_tenant(tenant)
    kinds = list(sorts())
    each = HOSTILE // len(kinds) + 1
    arena.loosen()
    told = await arena.put_up(spread([sort for sort in kinds if sort.is_from_before], TENANTS, each))
    await arena.tighten()
    told += await arena.put_up(spread([sort for sort in kinds if not sort.is_from_before], TENANTS, each))
    told += await arena.put_up([operators_account(OPERATORS_NAMESPACE, "thief")])
    assert len(told) > HOSTILE
    return told
