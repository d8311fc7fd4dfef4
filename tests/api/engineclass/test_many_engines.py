"""One edit of a preset, 200 engines at once: who rolls, and what it asks of the API server."""

import asyncio
from collections import Counter

import pytest

from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.api.resources import FIREBOLT_ENGINE_PRESETS
from firebolt_operator.refs import Manifest
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, is_at_rest

pytestmark = pytest.mark.slow

MANY, OTHERS, AT_ONCE = 200, 20, 8
SECONDS = 280.0  # on two cores that others use as well
A_ROLLOUT = 20  # requests, as docs/dev/requests.md counts them


def labelled(**labels: str) -> Manifest:
    return {"metadata": {"labels": labels}}


async def make(person: Person, count: int, prefix: str, template: Manifest) -> None:
    """Several at a time, as somebody with a script would."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> None:
        async with limit:
            await person.make_engine(name, template=template)

    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(one(f"{prefix}{number}"), name=f"{prefix}{number}")


def at_rest(operator: Operator, prefix: str, generation: int) -> int:
    engines = operator.caches.engines.values()
    return sum(each.metadata.name.startswith(prefix) and is_at_rest(each, generation) for each in engines)


async def until_at_rest(operator: Operator, prefix: str, count: int, generation: int) -> None:
    async with asyncio.timeout(SECONDS):
        while at_rest(operator, prefix, generation) < count:
            operator.changed.clear()
            await operator.changed.wait()


async def test_an_edit_rolls_exactly_those_whose_pods_change_within_the_budget(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_preset(template=labelled(team="old"))
    await operator.sees(lambda: operator.caches.presets.get((person.namespace, PRESET_NAME)))
    await make(person, MANY, "rolls", {})
    await make(person, OTHERS, "stays", labelled(team="own"))
    await until_at_rest(operator, "rolls", MANY, 0)
    await until_at_rest(operator, "stays", OTHERS, 0)
    await operator.settled()
    operator.requests.seen.clear()

    await person.patch(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, {"spec": {"template": labelled(team="new")}})
    await until_at_rest(operator, "rolls", MANY, 1)
    await operator.settled()
    seen = operator.requests.seen
    assert at_rest(operator, "stays", 0) == OTHERS, "what an edit does not change is not rolled"
    made = Counter({"statefulsets": MANY, "configmaps": MANY, "services": 2 * MANY})  # a Service is moved as well
    gone = Counter({"statefulsets": MANY, "configmaps": MANY, "services": MANY})
    assert {kind: seen[f"PATCH {kind}"] for kind in made} == made
    assert {kind: seen[f"DELETE {kind}"] for kind in gone} == gone
    assert seen.total() <= MANY * A_ROLLOUT + 4, seen
