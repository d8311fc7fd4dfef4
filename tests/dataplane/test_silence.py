"""A query may be silent for as long as it runs. Who only pretends to send one is cut."""

import asyncio

import pytest

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.client import Client, ConnectionEndedError
from tests.support.dataplane.relocation import connection_manager
from tests.support.dataplane.rig import Rig


def cut_after_a_second(bootstrap: Manifest) -> None:
    connection_manager(bootstrap)["stream_idle_timeout"] = "1s"


async def silent_query(rig: Rig, seconds: float) -> int:
    rig.point("eng", await rig.generation(1))
    answer = await rig.client.query(f"/?id=silent&delay={seconds}", deadline=seconds + 30)
    assert rig.ledger.counts["silent"] == 1
    return answer.status


async def test_given_a_query_that_is_silent_for_a_while_when_done_then_it_is_answered(rig: Rig) -> None:
    assert await silent_query(rig, 4) == 200


async def test_given_an_idle_limit_when_a_query_is_silent_for_longer_then_it_would_be_cut(start_rig: StartRig) -> None:
    """The control: this is what the setting that we render prevents."""
    async with start_rig(change=cut_after_a_second) as rig:
        assert await silent_query(rig, 4) == 504


@pytest.mark.slow
async def test_given_a_query_that_is_silent_for_six_minutes_when_done_then_it_is_answered(rig: Rig) -> None:
    assert await silent_query(rig, 360) == 200


async def test_given_a_sender_that_never_finishes_its_headers_when_ten_seconds_pass_then_it_is_cut(rig: Rig) -> None:
    slow = Client(rig.address, 8080)
    begun = asyncio.get_running_loop().time()
    try:
        answer = await slow.send(b"POST / HTTP/1.1\r\nhost: gateway\r\nx-firebolt-engine: eng\r\n", deadline=90)
        assert answer.status == 408
    except ConnectionEndedError:
        pass
    assert 9 < asyncio.get_running_loop().time() - begun < 60
    slow.close()
