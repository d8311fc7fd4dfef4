"""Can anybody who reaches a gateway pod talk to Envoy's admin interface? On no port, in no way of writing it."""

import asyncio

import pytest

from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.connections import WATCHING_LIMITS
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.server import serving, with_health
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.raw_requests import FORBIDDEN, forbidden_answers, raw_answer
from tests.support.dataplane.rig import Rig

STATS_PORT = 9090
REFUSALS = {400, 403, 404, 405, 411, 426, 501}


async def admin_requests(rig: Rig) -> int:
    """How many requests came through to the admin interface, from the listener that leads there."""
    return await rig.envoy.stat("cluster.admin_stats.upstream_rq_total")


async def test_given_forty_raw_requests_when_sent_to_the_metrics_port_then_none_reaches_the_admin_interface(
    rig: Rig,
) -> None:
    found = await forbidden_answers(rig.address, STATS_PORT)
    assert len(found) >= 40
    assert {name: answer.statuses for name, answer in found.items() if not answer.statuses <= REFUSALS} == {}
    assert [name for name, answer in found.items() if answer.is_of_the_admin_interface] == []
    assert await admin_requests(rig) == 0
    assert (await rig.client.get("/healthz")).status == 200


async def test_given_forty_raw_requests_when_sent_to_the_client_port_then_none_reaches_the_admin_interface(
    rig: Rig,
) -> None:
    rig.point("eng", await rig.generation(1))
    found = await forbidden_answers(rig.address, 8080)
    assert [name for name, answer in found.items() if answer.is_of_the_admin_interface] == []
    assert await admin_requests(rig) == 0
    assert rig.ledger.executions == []
    assert (await rig.client.get("/healthz")).status == 200


async def test_given_forty_raw_requests_when_sent_to_the_agents_metrics_then_it_answers_none_of_them() -> None:
    app = with_health(metrics_app(Metrics().render, None))
    async with serving(app, BindAddress("127.0.0.1", 0), WATCHING_LIMITS) as port:
        found = await forbidden_answers("127.0.0.1", port)
        assert {name: answer.statuses for name, answer in found.items() if not answer.statuses <= REFUSALS} == {}
        assert (await raw_answer("127.0.0.1", port, b"GET /metrics HTTP/1.1\r\nHost: pod\r\n\r\n")).statuses == {200}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("/healthz", 200, id="probe"),
        pytest.param("/healthz?verbose=1", 200, id="probe-with-a-query-string"),
        pytest.param("/healthz?/../config_dump", 200, id="probe-with-a-path-in-its-query-string"),
        pytest.param("/stats/prometheus", 200, id="metrics"),
        pytest.param("/stats/prometheus?usedonly", 200, id="metrics-with-a-query-string"),
        pytest.param("/stats/prometheus?/../../config_dump", 200, id="metrics-with-a-path-in-their-query-string"),
        pytest.param("http://pod/stats/prometheus", 200, id="metrics-in-absolute-form"),
    ],
)
async def test_given_what_is_allowed_when_asked_on_the_metrics_port_then_it_is_answered_and_nothing_else(
    rig: Rig, target: str, expected: int
) -> None:
    answer = await raw_answer(rig.address, STATS_PORT, f"GET {target} HTTP/1.1\r\nHost: pod\r\n\r\n".encode())
    assert answer.statuses == {expected}
    is_metrics = b"# TYPE envoy_" in answer.text
    assert is_metrics == ("prometheus" in target)
    assert b"static_resources" not in answer.text


def led_by_prefix(bootstrap: Manifest) -> None:
    manager = bootstrap["static_resources"]["listeners"][1]["filter_chains"][0]["filters"][0]["typed_config"]
    [host] = manager["route_config"]["virtual_hosts"]
    [route] = host["routes"]
    route["match"] = {"prefix": "/stats/prometheus"}


async def test_given_a_match_by_prefix_when_climbed_then_the_admin_interface_would_answer(start_rig: StartRig) -> None:
    """The control: this is what the whole path is compared for."""
    async with start_rig(change=led_by_prefix) as rig:
        shown = await raw_answer(rig.address, STATS_PORT, FORBIDDEN["GET /stats/prometheus/../../config_dump"])
        assert shown.is_of_the_admin_interface
        await raw_answer(rig.address, STATS_PORT, FORBIDDEN["POST /stats/prometheus/../../quitquitquit"])
        async with asyncio.timeout(20):
            assert await rig.envoy.process.wait() == 0
