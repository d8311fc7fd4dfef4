"""The gateways' admission policy on a control plane, and how a test sees that it is in force."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

from firebolt_operator.errors import RejectedError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest
from tests.api.wake.place import WAKE, Place

POLICY_FILE: Final = Path(__file__).parents[3] / "config" / "admission" / "gateway-wake.yaml"
A_STAMP: Final[Manifest] = {"metadata": {"annotations": {WAKE: "2026-01-01T00:00:00Z"}}}
A_STATUS: Final[Manifest] = {"status": {"phase": "stable", "currentGeneration": 0, "activeGeneration": 0}}
EVERY_VERB: Final = ("get", "list", "patch", "update", "create", "delete", "deletecollection")


async def refused(act: Callable[[], Awaitable[Any]]) -> str:
    """Why; the server takes a moment to notice a new policy or a new instance."""
    for _ in range(300):
        try:
            await act()
        except RejectedError as err:
            return str(err)
        await asyncio.sleep(0.1)
    raise AssertionError("never refused")


async def wait_until_limited(place: Place, client: KubeClient) -> None:
    numbers = count()

    async def act() -> None:
        # Another value each time: a patch that changes nothing is never refused.
        await client.merge_patch(place.engine_ref(), {"metadata": {"labels": {"probe": str(next(numbers))}}})

    await refused(act)
    await place.client.merge_patch(place.engine_ref(), {"metadata": {"labels": {"probe": None}}})
