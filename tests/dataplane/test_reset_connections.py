"""A connection that is reset before the query was sent over it: does the query go to another pod, and run once?"""

import asyncio
import signal
import socket
import struct
from pathlib import Path

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.engine_pod import QUERY_PORT, EnginePod
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.relocation import connection_manager, engine_cluster
from tests.support.dataplane.rig import Rig, eventually

SYN_SENT = "02"
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
ADDRESS_SECONDS = 30.0  # a SYN that was dropped is sent again after one, whether or not its sender stands still


def patient(bootstrap: Manifest) -> None:
    """Envoy would give up on a slow connection before it is reset."""
    engine_cluster(bootstrap)["connect_timeout"] = "20s"


def without_retries(bootstrap: Manifest) -> None:
    patient(bootstrap)
    [host] = connection_manager(bootstrap)["route_config"]["virtual_hosts"]
    for route in host["routes"]:
        route.get("route", {}).pop("retry_policy", None)


class ResettingAddress:
    """Takes no connection for a while, then takes one and resets it."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((address, QUERY_PORT))
        self._listener.listen(0)
        self._listener.setblocking(False)
        self._fillers = [self._filler() for _ in range(3)]

    def _filler(self) -> socket.socket:
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex((self._address, QUERY_PORT))
        return filler

    async def is_awaited(self) -> bool:
        """Somebody other than the fillers has asked for a connection and got no answer yet."""
        own = {each.getsockname()[1] for each in self._fillers}
        return bool(ports_waiting_for(self._address) - own)

    async def reset_all(self) -> None:
        """Until the one that waited was among them."""
        for filler in self._fillers:
            filler.close()
        async with asyncio.timeout(ADDRESS_SECONDS):
            loop = asyncio.get_running_loop()
            for _ in range(2):  # what was queued already, and who waited
                connection, _ = await loop.sock_accept(self._listener)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                connection.close()

    def close(self) -> None:
        self._listener.close()
        for filler in self._fillers:
            filler.close()


def ports_waiting_for(address: str) -> set[int]:
    """From which connections to that address are asked for."""
    remote = f"{socket.inet_aton(address)[::-1].hex().upper()}:{QUERY_PORT:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if (row[2], row[3]) == (remote, SYN_SENT)}


async def query_over_a_reset_connection(rig: Rig) -> Message:
    pods = await rig.generation(2)
    rig.point("eng", pods)
    await rig.client.query("/?id=first")
    next_pod = await _pod_that_is_next(rig, pods)
    await eventually(lambda: _keeps_no_connection(rig), 30, "Envoy has ended the connections that it kept")
    next_pod.close_idle_connections()  # that of the health check
    next_pod.stop_listening()
    address = ResettingAddress(next_pod.address)
    try:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(rig.client.query("/?id=reset"))
            await eventually(address.is_awaited, 15, "Envoy waits for a connection")
            rig.envoy.process.send_signal(signal.SIGSTOP)
            try:
                await address.reset_all()
            finally:
                rig.envoy.process.send_signal(signal.SIGCONT)
    finally:
        address.close()
    return asked.result()


async def _keeps_no_connection(rig: Rig) -> bool:
    active = await rig.envoy.stats("upstream_cx_active$")
    assert active, "Envoy tells of no connections at all"
    return not any(active.values())


async def _pod_that_is_next(rig: Rig, pods: list[EnginePod]) -> EnginePod:
    """Round robin with two pods: whoever did not answer the last query."""
    last = (await rig.client.query("/?id=who")).headers["x-pod"]
    return next(pod for pod in pods if pod.address != last)


async def test_given_a_connection_that_is_reset_before_the_query_was_sent_then_another_pod_answers(
    start_rig: StartRig,
) -> None:
    async with start_rig(change=patient) as rig:
        answer = await query_over_a_reset_connection(rig)
        assert answer.status == 200
        assert rig.ledger.counts["reset"] == 1


async def test_given_no_retries_when_a_connection_is_reset_then_the_query_would_be_lost(start_rig: StartRig) -> None:
    """The control."""
    async with start_rig(change=without_retries) as rig:
        answer = await query_over_a_reset_connection(rig)
        assert (answer.status, rig.ledger.counts["reset"]) == (503, 0)
        assert "x-firebolt-outcome" not in answer.headers
