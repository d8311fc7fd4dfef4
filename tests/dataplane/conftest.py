"""A gateway of one's own for every test: `async with start_rig(wake=True) as rig`."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.support.dataplane.rig import Rig, running_rig

StartRig = Callable[..., AbstractAsyncContextManager[Rig]]


@pytest.fixture
def start_rig(tmp_path: Path) -> StartRig:
    return partial(running_rig, tmp_path)


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncGenerator[Rig]:
    """Without wake, with one worker and no engines yet."""
    async with running_rig(tmp_path) as running:
        yield running
