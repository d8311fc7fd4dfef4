"""An instance's id in another case: whoever runs keeps what it started with, whoever starts reads the new one."""

import json

from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_INSTANCES
from tests.api.engine.person import INSTANCE_ID, Person
from tests.api.engine.running import Operator

STARTING = {"metadata": {"annotations": {"sim.firebolt.io/fault": "CrashLoopBackOff"}}}


async def told_id(person: Person, generation: int) -> str:
    config = await person.read(CONFIG_MAPS, f"eng-g{generation}-config")
    return str(json.loads(config["data"]["config.yaml"])["instance"]["id"])


async def rewrite(person: Person) -> None:
    await person.patch(FIREBOLT_INSTANCES, "inst", {"spec": {"id": INSTANCE_ID.lower()}})


async def test_an_engine_that_runs_is_not_rolled_and_its_next_generation_has_the_new_id(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await rewrite(person)
    await operator.stays_at_rest(0)
    assert await told_id(person, 0) == INSTANCE_ID
    await person.edit_engine(replicas=2)
    await operator.until_at_rest(1)
    assert await told_id(person, 1) == INSTANCE_ID.lower()


async def test_a_generation_that_starts_is_told_and_not_abandoned(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.edit_engine(template=STARTING)
    await operator.until(lambda engine: engine.status.phase == "creating" and engine.status.current_generation == 1)
    await person.until(CONFIG_MAPS, "eng-g1-config", lambda found: found is not None)
    assert await told_id(person, 1) == INSTANCE_ID
    await rewrite(person)
    await person.until(CONFIG_MAPS, "eng-g1-config", lambda found: INSTANCE_ID.lower() in str(found))
    starting = await operator.until_phase("creating")
    assert (starting.status.current_generation, starting.status.active_generation) == (1, 0)
