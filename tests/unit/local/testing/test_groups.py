"""Does an error that is meant for people reach them without the groups around it?"""

import asyncio

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.testing.groups import without_groups


async def _fail(error: Exception) -> None:
    async with asyncio.TaskGroup() as outer:
        outer.create_task(asyncio.sleep(60), name="beside")
        async with asyncio.TaskGroup():
            raise error


async def test_an_error_for_people_comes_out_of_nested_groups() -> None:
    with pytest.raises(LocalError, match="step 'wake'"), without_groups():
        await _fail(LocalError("step 'wake': not done"))


async def test_a_bug_keeps_its_groups_and_its_trace() -> None:
    with pytest.raises(ExceptionGroup), without_groups():
        await _fail(ValueError("a bug"))
