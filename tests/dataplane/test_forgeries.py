"""What may a client claim about itself, and how many names may it invent? Nothing that the gateway acts on, and few."""

import asyncio
import re

import pytest

from firebolt_operator.gateway.envoy.forged_headers import CLAIMS, NOBODY, ORDERS
from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.relocation import connection_manager, engine_cluster
from tests.support.dataplane.rig import Rig, eventually, service_host

RETRY = {"x-envoy-retry-on": "5xx", "x-envoy-max-retries": "3"}
INSIDE = "10.0.0.1"


async def logged(rig: Rig, mark: str) -> str:
    """The access log's line about one query."""

    async def is_there() -> bool:
        return any(mark in line for line in rig.envoy.access_log())

    await eventually(is_there, 30, f"a line with {mark}")
    return next(line for line in rig.envoy.access_log() if mark in line)


async def test_given_headers_that_only_envoy_sets_when_a_client_sends_them_then_they_are_neither_logged_nor_passed_on(
    rig: Rig,
) -> None:
    rig.point("eng", await rig.generation(1))
    forged = dict.fromkeys((*CLAIMS, *ORDERS), "/forged")
    assert (await rig.client.query("/?id=q", headers=forged)).status == 200
    [ran] = rig.ledger.of("q")
    assert {name: value for name, value in ran.headers.items() if "forged" in value} == {}
    assert '"POST /?id=q HTTP/1.1"' in await logged(rig, "id=q")


async def test_given_a_forged_path_when_the_gateway_itself_answers_then_the_real_one_is_logged(rig: Rig) -> None:
    assert (await rig.client.query("/?id=no", engine="No", headers={"x-envoy-original-path": "/forged"})).status == 400
    assert '"POST /?id=no HTTP/1.1" 400' in await logged(rig, "id=no")


async def test_when_a_query_is_logged_then_the_line_names_its_client_and_not_whom_a_header_names(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.query("/?id=q", headers={"x-forwarded-for": "203.0.113.9"})
    line = await logged(rig, "id=q")
    assert re.search(r" client=127\.[0-9.]+:[0-9]+ ", line), line
    assert "203.0.113.9" not in line


async def test_given_a_long_path_and_a_long_engine_when_logged_then_the_line_is_short_and_whole(rig: Rig) -> None:
    # Too long for an engine's name: the gateway itself answers.
    answer = await rig.client.query(f"/?id=long&{'p' * 20_000}", engine="e" * 20_000)
    assert answer.status == 400
    line = await logged(rig, "id=long")
    assert (line.count("p" * 1000), line.count("e" * 128)) == (1, 1)
    assert len(line) < 2048
    assert line.startswith("[")
    assert " authority=" in line


def headers_are_kept(bootstrap: Manifest) -> None:
    del connection_manager(bootstrap)["early_header_mutation_extensions"]


def headers_are_kept_and_inside_is_trusted(bootstrap: Manifest) -> None:
    headers_are_kept(bootstrap)
    trusted = {"cidr_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 8}]}
    connection_manager(bootstrap)["internal_address_config"] = trusted


async def executions_of_a_query_that_orders_retries(rig: Rig, claimed_address: str) -> int:
    pods = await rig.generation(2)
    rig.point("eng", pods)
    await rig.client.query("/?id=warm-up")
    for pod in pods:
        pod.status = 503
    headers = {**RETRY, "x-forwarded-for": claimed_address}
    assert (await rig.client.query("/?id=once", headers=headers)).status == 503
    return rig.ledger.counts["once"]


@pytest.mark.parametrize("claimed", [INSIDE, "127.0.0.1", str(NOBODY["address_prefix"])])
async def test_given_a_client_that_claims_to_be_inside_when_it_orders_retries_then_nobody_obeys(
    rig: Rig, claimed: str
) -> None:
    assert await executions_of_a_query_that_orders_retries(rig, claimed) == 1


async def test_given_that_headers_are_kept_when_a_client_claims_to_be_inside_then_its_address_is_still_not_trusted(
    start_rig: StartRig,
) -> None:
    """Who is inside does not depend on Envoy's version."""
    async with start_rig(change=headers_are_kept) as rig:
        assert await executions_of_a_query_that_orders_retries(rig, INSIDE) == 1


async def test_given_that_inside_addresses_are_trusted_when_retries_are_ordered_then_they_would_be_made(
    start_rig: StartRig,
) -> None:
    """The control."""
    async with start_rig(change=headers_are_kept_and_inside_is_trusted) as rig:
        assert await executions_of_a_query_that_orders_retries(rig, INSIDE) > 1


def five_engines_at_most(bootstrap: Manifest) -> None:
    settings = engine_cluster(bootstrap)["cluster_type"]["typed_config"]["sub_clusters_config"]
    assert settings["max_sub_clusters"] == 1024
    settings["max_sub_clusters"] = 5


async def test_given_as_many_names_as_clusters_may_be_when_more_come_then_they_cost_nothing_and_known_engines_answer(
    start_rig: StartRig,
) -> None:
    async with start_rig(change=five_engines_at_most) as rig:
        rig.point("eng", await rig.generation(1))
        assert (await rig.client.query("/?id=first")).status == 200
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(rig.client.query("/", engine=f"no-{number}")) for number in range(50)]
        assert {task.result().status for task in asked} == {503}
        clusters = (await rig.envoy.admin.get("/clusters")).body.decode()
        assert len(set(re.findall(r"^DFPCluster:[^:]+", clusters, re.MULTILINE))) <= 5
        assert len(set(rig.zone.lookups) - {service_host("eng")}) <= 5
        assert (await rig.client.query("/?id=after")).status == 200
