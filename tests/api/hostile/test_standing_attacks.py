"""Each attack of a tenant stands, one after the other: twenty engines of others roll, park and wake all the same."""

import time

import pytest

from tests.api.hostile.arena import OPERATORS_NAMESPACE, Arena
from tests.api.hostile.attacks import ATTACKS, NEIGHBOURS, TENANT
from tests.api.hostile.good_engines import GoodEngines


@pytest.mark.slow
async def test_given_every_attack_standing_when_engines_of_others_roll_park_and_wake_then_they_arrive(
    arena: Arena,
) -> None:
    """One life of one operator: what an attack did to it would be carried into all that follow."""
    engines = GoodEngines(arena.client, NEIGHBOURS)
    await arena.make_namespaces(NEIGHBOURS, OPERATORS_NAMESPACE)
    await arena.make_tenant(TENANT)
    await engines.make()
    async with arena.operator() as operator:
        await engines.until_ready()
        seconds = {"nothing": await a_round(engines, "nothing")}
        for attack, put_up in ATTACKS.items():
            await put_up(arena)
            seconds[attack] = await a_round(engines, attack)
        print("".join(f"\n{spent:6.1f} s with {attack}" for attack, spent in seconds.items()))
        print(f"{operator.usage().peak_rss_mib:.0f} MiB at most")


async def a_round(engines: GoodEngines, attack: str) -> float:
    began_at = time.monotonic()
    await engines.roll(attack.replace(" ", "-").replace(",", "").replace("'", ""))
    await engines.park()
    await engines.wake()
    await engines.until_ready()
    return time.monotonic() - began_at
