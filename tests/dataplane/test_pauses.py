"""A client or an engine that stops reading for a while is alive. Does it lose anything? Nothing."""

import asyncio
import socket

import pytest

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.pausing_reader import MIB, PausingReader, little_room_in_the_kernel
from tests.support.dataplane.relocation import engine_cluster
from tests.support.dataplane.rig import Rig, eventually
from tests.support.dataplane.sockets_of import TCP_USER_TIMEOUT, SocketOptions, TcpSocket, tcp_sockets

LARGE = 64 * MIB  # far beyond what the kernel and Envoy take in without its reader
TAIL = MIB  # fits into Envoy's buffer, so that its engine is done while its reader pauses
RENDERED = SocketOptions(keepalive=True, idle_seconds=60, interval_seconds=15, probes=4, user_timeout_ms=0)
BEYOND_TWO_MINUTES = 130.0
SHORT = 6.0


def cut_after_two_seconds(bootstrap: Manifest) -> None:
    option = {"level": socket.IPPROTO_TCP, "name": TCP_USER_TIMEOUT, "int_value": 2000}
    bootstrap["static_resources"]["listeners"][0]["socket_options"].append(option)
    engine_cluster(bootstrap)["upstream_bind_config"] = {"socket_options": [option]}


async def bytes_missing_after_a_pause(rig: Rig, size: int, seconds: float, headers: str = "") -> int:
    rig.point("eng", await rig.generation(1))
    await rig.client.query("/?id=warm-up")
    reader = PausingReader(rig)
    try:
        await reader.ask(size, headers)
        await reader.until_envoy_is_stuck()
        await asyncio.sleep(seconds)
        return size - await reader.read_all(size)
    finally:
        reader.close()


async def status_of_an_upload_with_a_pause(rig: Rig, seconds: float) -> int:
    [pod] = await rig.generation(1)
    rig.point("eng", [pod])
    await rig.client.query("/?id=warm-up")
    pod.pauses_reading_after = MIB
    async with asyncio.TaskGroup() as group:
        sending = group.create_task(rig.client.query("/?id=up", body=b"x" * LARGE, deadline=seconds + 60))
        await eventually(lambda: _has_stopped_reading(rig), 30, "the engine stopped reading")
        await asyncio.sleep(seconds)
        pod.read_on()
    answer = sending.result()
    assert [each.body_bytes for each in rig.ledger.of("up")] == ([LARGE] if answer.status == 200 else [])
    return answer.status


async def _has_stopped_reading(rig: Rig) -> bool:
    stuck = await rig.envoy.stats("DFPCluster.*upstream_cx_tx_bytes_buffered$")
    return any(pod.is_pausing for pod in rig.pods) and sum(stuck.values()) > 0


PAUSES = pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(SHORT, id="seconds"),
        pytest.param(BEYOND_TWO_MINUTES, id="beyond-two-minutes", marks=pytest.mark.slow),
    ],
)


@PAUSES
async def test_given_a_client_that_pauses_in_a_large_answer_when_it_reads_on_then_nothing_is_missing(
    rig: Rig, seconds: float
) -> None:
    assert await bytes_missing_after_a_pause(rig, LARGE, seconds) == 0


@PAUSES
async def test_given_a_client_that_asked_to_close_when_it_pauses_in_the_tail_then_nothing_is_missing(
    start_rig: StartRig, seconds: float
) -> None:
    async with start_rig(change=little_room_in_the_kernel) as rig:
        assert await bytes_missing_after_a_pause(rig, TAIL, seconds, "connection: close\r\n") == 0


@PAUSES
async def test_given_an_engine_that_pauses_in_a_large_upload_when_it_reads_on_then_nothing_is_missing(
    rig: Rig, seconds: float
) -> None:
    assert await status_of_an_upload_with_a_pause(rig, seconds) == 200


async def test_given_a_limit_on_unacknowledged_data_when_a_client_pauses_then_its_answer_would_be_cut(
    start_rig: StartRig,
) -> None:
    """The control: this is why the option is not set."""
    async with start_rig(change=cut_after_two_seconds) as rig:
        assert await bytes_missing_after_a_pause(rig, LARGE, SHORT) > 0


async def test_given_a_limit_on_unacknowledged_data_when_an_engine_pauses_then_its_upload_would_be_cut(
    start_rig: StartRig,
) -> None:
    async with start_rig(change=cut_after_two_seconds) as rig:
        assert await status_of_an_upload_with_a_pause(rig, SHORT) == 503


async def test_when_queries_run_then_every_socket_of_theirs_has_keepalive_and_no_limit_on_unacknowledged_data(
    rig: Rig,
) -> None:
    [pod] = await rig.generation(1)
    rig.point("eng", [pod])
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.client.query("/?id=long&delay=60"))
        await eventually(lambda: _is_running(rig), 10, "the query runs")
        found = tcp_sockets(rig.envoy.process.pid)
        running.cancel()
    assert {role(each, rig) for each in found} >= {"listener", "client", "engine"}
    assert {(role(each, rig), each.options) for each in found if role(each, rig)} == {
        ("listener", RENDERED),
        ("client", RENDERED),
        ("engine", RENDERED),
    }


def role(found: TcpSocket, rig: Rig) -> str:
    if found.local == (rig.address, 8080):
        return "client" if found.remote else "listener"
    return "engine" if found.remote and found.remote[0] in {pod.address for pod in rig.pods} else ""


async def _is_running(rig: Rig) -> bool:
    return any(pod.running for pod in rig.pods)
