"""For how long can engines be neither changed nor woken after the API server was killed?"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, gateway_name
from firebolt_operator.refs import Manifest
from tests.e2e.scenario import Scenario

RESTARTS = 10
LONGEST_REFUSAL_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
AUTO_STOP: Manifest = {"enabled": True, "idleTimeout": "1h", "activeReplicas": 1}


async def test_given_an_api_server_killed_ten_times_then_writes_and_wakes_are_back_within_five_seconds(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    await scenario.make_engine("parked", replicas=0, autoStop=AUTO_STOP)
    gateway = f"--as=system:serviceaccount:{scenario.namespace}:{gateway_name(scenario.instance)}"
    for number in range(1, RESTARTS + 1):
        await asyncio.to_thread(scenario.environment.cluster.restart_apiserver)
        ready_at = time.monotonic()
        with pytest.raises(AssertionError, match="a gateway may not change an engine's spec"):
            await patch(scenario, {"spec": {"replicas": 1}}, gateway)
        write = await allowed_after(ready_at, partial(patch, scenario, {"metadata": {"labels": {"n": str(number)}}}))
        wake = await allowed_after(ready_at, partial(patch, scenario, a_stamp(number), gateway))
        with capsys.disabled():
            print(f"\nrestart {number}: writes allowed {write:.2f} s after /readyz, wakes {wake:.2f} s", end="")
        assert max(write, wake) <= LONGEST_REFUSAL_SECONDS
    assert (await scenario.ask("parked")).is_good


async def patch(scenario: Scenario, change: Manifest, *words: str) -> None:
    """By kubectl, so that nothing is left of connections from before."""
    await scenario.kubectl("patch", "fireboltengine", "parked", "--type=merge", f"--patch={json.dumps(change)}", *words)


def a_stamp(number: int) -> Manifest:
    """Too old to wake anybody."""
    return {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: f"2020-01-01T00:00:{number:02}Z"}}}


async def allowed_after(since: float, act: Callable[[], Awaitable[None]]) -> float:
    """Seconds until it was first allowed."""
    while True:
        try:
            await act()
        except AssertionError:
            if time.monotonic() - since > GIVE_UP_SECONDS:
                raise
        else:
            return time.monotonic() - since
