"""A client and an engine that vanish without a word: are they noticed, and are their slots free again?"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from tests.support.dataplane.client import Client
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.network import FAR_ADDRESSES, NEAR_ADDRESS, Link, is_possible, linked_namespaces
from tests.support.dataplane.relocation import engine_cluster
from tests.support.dataplane.rig import Change, Rig, eventually, running_rig

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not is_possible(), reason="needs root, ip and nsenter for network namespaces"),
]
SHORTER = {4: 2, 5: 1, 6: 2}  # keepalive idle, interval and count
FEW_RETRANSMISSIONS = 4  # some seconds
RETRANSMISSIONS_OF_TWO_MINUTES = 8
HERE = "127.0.0.1"  # beside the gateway
FOREVER = 1200  # seconds that a query would run


def noticed_within_seconds(bootstrap: Manifest) -> None:
    """The same settings with smaller figures, so that a test can wait for them."""
    engines = engine_cluster(bootstrap)
    listener = bootstrap["static_resources"]["listeners"][0]
    for option in listener["socket_options"]:
        option["int_value"] = SHORTER.get(option["name"], option["int_value"])
    engines["upstream_connection_options"]["tcp_keepalive"] = {
        "keepalive_time": SHORTER[4],
        "keepalive_interval": SHORTER[5],
        "keepalive_probes": SHORTER[6],
    }


def without_keepalive(bootstrap: Manifest) -> None:
    del bootstrap["static_resources"]["listeners"][0]["socket_options"]
    del engine_cluster(bootstrap)["upstream_connection_options"]


@dataclass(frozen=True, slots=True)
class Stranded:
    """Three queries whose other end is gone."""

    rig: Rig
    acknowledged: asyncio.Task[Message]  # its engine vanished while running it
    unacknowledged: asyncio.Task[Message]  # its engine vanished just before it was sent
    orphaned: asyncio.Task[Message]  # its client vanished

    async def client_is_noticed(self) -> bool:
        return not any(pod.running for pod in self.rig.pods if pod.address == HERE)


@asynccontextmanager
async def stranded(folder: Path, change: Change | None, retransmissions: int) -> AsyncGenerator[Stranded]:
    with linked_namespaces() as link:
        link.give_up_after(retransmissions)
        async with running_rig(folder, change=change, namespace=link.near) as rig, asyncio.TaskGroup() as group:
            far_client = await _engines_and_client(rig, link)
            acknowledged = group.create_task(_endless(rig.client, "running"))
            orphaned = group.create_task(_endless(far_client, "near"))
            await eventually(lambda: _running(rig, 2), 30, "two queries run")
            await rig.client.query("/?id=warm-up", "fresh")
            link.cut()
            unacknowledged = group.create_task(_endless(rig.client, "fresh"))
            yield Stranded(rig, acknowledged, unacknowledged, orphaned)
            for task in (acknowledged, unacknowledged, orphaned):
                task.cancel()


async def _engines_and_client(rig: Rig, link: Link) -> Client:
    for engine, address in zip(("running", "fresh"), FAR_ADDRESSES, strict=False):
        rig.point(engine, [await rig.pod_at(address, link.far)])
    rig.point("near", [await rig.pod_at(HERE, link.near)])
    return Client(NEAR_ADDRESS, 8080, link.far)


async def _endless(client: Client, engine: str) -> Message:
    return await client.query(f"/?id={engine}&delay={FOREVER}", engine, deadline=FOREVER)


async def _running(rig: Rig, count: int) -> bool:
    return sum(pod.running for pod in rig.pods) == count


async def _all_noticed(seen: Stranded, within: float) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with asyncio.timeout(within):
        answers = {"running": await seen.acknowledged}
        print(f"engine of a running query noticed after {loop.time() - begun:.0f} s")
        answers["sent"] = await seen.unacknowledged
        print(f"engine of a query just sent noticed after {loop.time() - begun:.0f} s")
        await eventually(seen.client_is_noticed, within, "the client's query is over")
        print(f"client noticed after {loop.time() - begun:.0f} s")
        await eventually(lambda: _no_slots_taken(seen.rig), within, "all slots are free")
    marks = {name: (each.status, each.headers.get("x-firebolt-outcome")) for name, each in answers.items()}
    assert marks == {"running": (503, "unknown"), "sent": (503, "unknown")}


async def _no_slots_taken(rig: Rig) -> bool:
    gauges = await rig.envoy.stats("(http.gateway.downstream_rq_active|DFPCluster.*upstream_rq_active)$")
    return not any(gauges.values())


async def test_given_vanished_peers_when_seconds_would_do_then_all_are_noticed_and_slots_are_free(
    tmp_path: Path,
) -> None:
    async with stranded(tmp_path, noticed_within_seconds, FEW_RETRANSMISSIONS) as seen:
        await _all_noticed(seen, 60)


@pytest.mark.slow
async def test_given_vanished_peers_when_minutes_pass_then_all_are_noticed_and_slots_are_free(tmp_path: Path) -> None:
    """As rendered; only the kernel gives up after two minutes of retransmissions instead of a quarter of an hour."""
    async with stranded(tmp_path, None, RETRANSMISSIONS_OF_TWO_MINUTES) as seen:
        await _all_noticed(seen, 300)


async def test_given_no_keepalive_when_an_engine_vanishes_then_its_query_would_hang(tmp_path: Path) -> None:
    """The control: without a word from either side only keepalive finds out."""
    async with stranded(tmp_path, without_keepalive, FEW_RETRANSMISSIONS) as seen:
        async with asyncio.timeout(60):
            await seen.unacknowledged
        await asyncio.sleep(8)
        assert not seen.acknowledged.done()
        assert not await seen.client_is_noticed()
