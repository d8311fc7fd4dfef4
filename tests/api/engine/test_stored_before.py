"""Engines that were stored before their kind had a limit: they are kept, run on, and can be mended."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.errors import InvalidError
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, message, reason
from tests.support.crds import install_crds

CRD = "crd/fireboltengines.compute.firebolt.io"
MAXIMUM = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/replicas/maximum"
HANG_GUARD_SECONDS = 60.0
TOO_MANY = 1500


@asynccontextmanager
async def without_a_limit(person: Person) -> AsyncGenerator[None]:
    """As the kind was in the first release."""
    try:
        await person.kubectl("patch", CRD, "--type=json", "-p", f'[{{"op":"remove","path":"{MAXIMUM}"}}]')
        yield
    finally:
        await asyncio.to_thread(install_crds, person.kubeconfig)


async def is_taken(person: Person, replicas: int) -> bool:
    try:
        await person.edit_engine(replicas=replicas)
    except InvalidError:
        return False
    return True


async def too_many_are_stored(person: Person) -> int:
    """The server goes by a changed kind a moment after it has stored it."""
    replicas = TOO_MANY
    async with asyncio.timeout(HANG_GUARD_SECONDS):
        async with without_a_limit(person):
            while not await is_taken(person, replicas):  # noqa: ASYNC110 - the server announces it to nobody
                await asyncio.sleep(0.1)
        while await is_taken(person, replicas + 1):
            replicas += 1
            await asyncio.sleep(0.1)
    return replicas


async def test_more_replicas_than_there_may_be_change_nothing_and_can_be_edited_back(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    stored = await too_many_are_stored(person)
    engine = await operator.until(lambda engine: f"Invalid value: {stored}:" in message(engine, "Stalled"))
    assert reason(engine, "Stalled") == "SpecInvalid"
    assert message(engine, "Stalled").startswith("spec.replicas: Invalid value: ")
    # What is edited beside it is taken, stored and told of.
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"labels": {"team": "a"}}})
    await person.edit_engine(drainTimeout="10m")
    generation = (await person.read(FIREBOLT_ENGINES, "eng"))["metadata"]["generation"]
    engine = await operator.until(lambda engine: engine.status.observed_generation == generation)
    assert reason(engine, "Stalled") == "SpecInvalid"
    assert await person.children() == serving(0)
    assert await person.selected_generation() == "0"
    with pytest.raises(InvalidError):
        await person.edit_engine(replicas=stored + 1)
    await person.edit_engine(replicas=2)
    engine = await operator.until_at_rest(1)
    assert (reason(engine, "Stalled"), engine.status.ready_replicas) == ("", 2)
    await person.until_children(serving(1))
