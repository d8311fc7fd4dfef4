"""A tenant fills its namespace with large objects, some without any right on our kinds: the others are served."""

from typing import Final

import pytest

from bench.support.crowd import for_each
from firebolt_operator.api.names import LABEL_ENGINE, LABEL_INSTANCE
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES
from tests.api.hostile.arena import OPERATORS_NAMESPACE, Arena
from tests.api.hostile.attacks import NEIGHBOURS, TENANT
from tests.api.hostile.good_engines import GoodEngines
from tests.api.hostile.traps import INSTANCE, manifest

CONFIG_MAPS_MADE: Final = 300
ENGINES_MADE: Final = 60
MEBI: Final = 1_000_000
MOST_RSS_MIB: Final = 400  # all of it together is more, and several times that once it is decoded


@pytest.mark.slow
async def test_given_large_objects_of_one_tenant_when_the_operator_starts_then_the_others_are_served(
    arena: Arena,
) -> None:
    engines = GoodEngines(arena.client, NEIGHBOURS)
    await arena.make_namespaces(TENANT, NEIGHBOURS, OPERATORS_NAMESPACE)
    await for_each(CONFIG_MAPS_MADE, lambda number: large_config_map(arena, number))
    await for_each(ENGINES_MADE, lambda number: large_engine(arena, number))
    await engines.make()
    async with arena.operator() as operator:
        await engines.until_ready()
        for number in range(CONFIG_MAPS_MADE, CONFIG_MAPS_MADE + 20):
            await large_config_map(arena, number)
        await engines.roll("beside-large-ones")
        assert await arena.metric("firebolt_operator_cache_broken_objects") == ENGINES_MADE
        peak = operator.usage().peak_rss_mib
        print(f"\nat most {peak:.0f} MiB")
        assert peak < MOST_RSS_MIB


async def large_config_map(arena: Arena, number: int) -> None:
    """With the labels of both: two caches would have it. Its text grows by a factor of six on its way to us."""
    labels = {"labels": {LABEL_ENGINE: f"eng-{number % 20:02}", LABEL_INSTANCE: INSTANCE}}
    text = "x" * MEBI if number % 10 else "<" * MEBI
    await arena.client.create(manifest(CONFIG_MAPS, TENANT, f"large-{number}", metadata=labels, data={"a": text}))


async def large_engine(arena: Arena, number: int) -> None:
    spec = {"instanceRef": INSTANCE, "replicas": 1, "customEngineConfig": {"a": "x" * MEBI}}
    await arena.client.create(manifest(FIREBOLT_ENGINES, TENANT, f"large-{number}", spec=spec))
