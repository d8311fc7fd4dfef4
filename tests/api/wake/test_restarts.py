"""For how long is anything refused after an API server has started again? The policy must know its lists at once."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from firebolt_operator.errors import ForbiddenError, OperatorError
from firebolt_operator.refs import Manifest
from tests.api.wake.limits import POLICY_FILE, wait_until_limited
from tests.api.wake.place import WAKE, Place, a_door
from tests.conftest import StartControlPlane
from tests.support.crds import install_crds
from tests.support.kubectl import kubectl

RESTARTS = 3
LONGEST_REFUSAL_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
NUMBERS = count(1)


def a_scale() -> Manifest:
    return {"spec": {"replicas": next(NUMBERS)}}


def a_stamp() -> Manifest:
    return {"metadata": {"annotations": {WAKE: f"2026-01-01T00:00:{next(NUMBERS) % 60:02}Z"}}}


async def refused_for(since: float, act: Callable[[], Awaitable[object]]) -> float:
    """Seconds from then until it was first allowed."""
    while True:
        try:
            await act()
        except OperatorError:
            if time.monotonic() - since > GIVE_UP_SECONDS:
                raise
        else:
            return time.monotonic() - since


@pytest.fixture
async def place(fresh_control_plane: StartControlPlane, tmp_path: Path) -> AsyncIterator[Place]:
    plane = fresh_control_plane()
    install_crds(plane.kubeconfig)
    kubectl(plane.kubeconfig, ["apply", "-f", str(POLICY_FILE)])
    async with a_door(plane.kubeconfig) as client:
        yield Place(plane, client, "default", tmp_path)


async def test_given_an_api_server_that_is_killed_again_and_again_then_writes_and_wakes_wait_and_gateways_stay_limited(
    place: Place,
) -> None:
    await place.make_engine()
    await place.list_gateways()
    await place.list_gateways("other", template={"spec": {"serviceAccountName": "custom"}})
    accounts = await place.make_gateway_account(), await place.make_account("custom", "patch")
    kubeconfigs = [place.kubeconfig_of(account) for account in accounts]
    for kubeconfig in kubeconfigs:
        async with a_door(kubeconfig) as gateway:
            await wait_until_limited(place, gateway)
    for number in range(1, RESTARTS + 1):
        place.plane.kill_apiserver()
        place.plane.start_apiserver()
        write, wake = await _allowed_after(place, kubeconfigs)
        print(f"restart {number}: writes allowed {write:.2f} s after /readyz, wakes {wake:.2f} s")
        assert max(write, wake) <= LONGEST_REFUSAL_SECONDS


async def _allowed_after(place: Place, kubeconfigs: list[Path]) -> tuple[float, float]:
    """Seconds until engines could be written, and woken; the first thing that a gateway may not do is refused."""
    ready_at, engine = time.monotonic(), place.engine_ref()
    # Connections of their own: those of before the restart are dead.
    async with AsyncExitStack() as stack:
        gateways = [await stack.enter_async_context(a_door(each)) for each in kubeconfigs]
        person = await stack.enter_async_context(a_door(place.plane.kubeconfig))
        for gateway in gateways:
            with pytest.raises(ForbiddenError, match="firebolt-gateway-wake"):
                await gateway.merge_patch(engine, a_scale())
        write = await refused_for(ready_at, lambda: person.merge_patch(engine, a_scale()))
        wakes = [await refused_for(ready_at, partial(gateway.merge_patch, engine, a_stamp())) for gateway in gateways]
        return write, max(wakes)
