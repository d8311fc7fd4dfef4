"""Does a live Envoy send every query where the script says, and nothing anywhere else?"""

import pytest

from firebolt_operator.refs import Manifest
from tests.dataplane.conftest import StartRig
from tests.support.dataplane.client import ConnectionEndedError
from tests.support.dataplane.http_messages import Message
from tests.support.dataplane.relocation import connection_manager
from tests.support.dataplane.rig import Rig, service_host
from tests.support.selector_vectors import LONGEST_ROUTABLE, REFUSED, ROUTED, Refused, Routed

KNOWN = {service_host(case.engine) for case in ROUTED}


def request(target: str, engine: str | None, host: str = "evil.example.com") -> bytes:
    header = "" if engine is None else f"X-Firebolt-Engine: {engine}\r\n"
    return f"GET {target} HTTP/1.1\r\nHost: {host}\r\n{header}\r\n".encode("latin-1")


async def rig_with_all_engines(rig: Rig) -> Rig:
    pods = await rig.generation(1)
    for engine in {case.engine for case in ROUTED}:
        rig.point(engine, pods)
    return rig


async def routed_as_expected(rig: Rig, case: Routed) -> bool:
    rig.ledger.executions.clear()
    answer = await rig.client.send(request(case.path, case.header))
    ran = rig.ledger.executions
    if len(ran) != 1:
        return False
    authority = f"{service_host(case.engine)}:3473"
    sent = (ran[0].target, ran[0].headers["host"], ran[0].headers["x-firebolt-engine"])
    return (answer.status, *sent) == (200, case.sent_path, authority, case.engine)


async def refused_as_expected(rig: Rig, case: Refused) -> bool:
    answer = await rig.client.send(request(case.path, case.header))
    return (answer.status, answer.body.decode()) == (400, case.body)


@pytest.mark.parametrize("wake", [False, True], ids=["wake-off", "wake-on"])
async def test_given_every_documented_selector_when_sent_then_envoy_agrees(start_rig: StartRig, wake: bool) -> None:
    async with start_rig(wake=wake) as rig:
        await rig_with_all_engines(rig)
        routable = [case for case in ROUTED if len(case.engine) <= len(LONGEST_ROUTABLE)]
        assert [case for case in routable if not await routed_as_expected(rig, case)] == []
        rig.ledger.executions.clear()
        assert [case for case in REFUSED if not await refused_as_expected(rig, case)] == []
        assert rig.ledger.executions == []
        assert set(rig.zone.lookups) <= KNOWN
        assert rig.envoy.complaints() == []


HEAD = b"Host: evil.example.com:3473\r\n"
HOSTILE = {
    "authority-of-the-senders": b"GET / HTTP/1.1\r\nHost: evil.example.com:3473\r\n\r\n",
    "absolute-target": b"GET http://evil.example.com:3473/ HTTP/1.1\r\n" + HEAD + b"\r\n",
    "absolute-target-with-engine": b"GET http://evil.example.com:3473/?engine=eng HTTP/1.1\r\n" + HEAD + b"\r\n",
    "line-break-in-engine": b"GET /?engine=eng%0d%0aHost:evil HTTP/1.1\r\n" + HEAD + b"\r\n",
    "line-break-in-header": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\r\n Host: evil\r\n\r\n",
    "bare-carriage-return": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\rHost: evil\r\n\r\n",
    "nul-in-header": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: e\x00ng\r\n\r\n",
    "unicode-in-header": b"GET / HTTP/1.1\r\n" + HEAD + "X-Firebolt-Engine: \u00e9ng\r\n\r\n".encode(),
    "unicode-in-target": b"GET /?engine=" + "\u00e9".encode() + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "invalid-utf-8": b"GET /?engine=\xff\xfe HTTP/1.1\r\n" + HEAD + b"\r\n",
    "repeated-header": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\r\n" * 2 + b"\r\n",
    "header-and-empty-header": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\r\nX-Firebolt-Engine:\r\n\r\n",
    "many-headers": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\r\n" * 200 + b"\r\n",
    "port-in-engine": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng:80\r\n\r\n",
    "dots-in-engine": b"GET / HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng.other\r\n\r\n",
    "100-kb-query": b"GET /?engine=eng&a=" + b"x" * 100_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "50-kb-of-separators": b"GET /?" + b"&" * 50_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "50-kb-of-engines": b"GET /?" + b"engine=eng&" * 4_500 + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "50-kb-of-percent-signs": b"GET /?engine=" + b"%" * 50_000 + b" HTTP/1.1\r\n" + HEAD + b"\r\n",
    "connect": b"CONNECT evil.example.com:3473 HTTP/1.1\r\n" + HEAD + b"\r\n",
    "connect-with-engine": b"CONNECT evil:3473 HTTP/1.1\r\n" + HEAD + b"X-Firebolt-Engine: eng\r\n\r\n",
    "options-star": b"OPTIONS * HTTP/1.1\r\n" + HEAD + b"\r\n",
    "old-protocol-without-host": b"GET / HTTP/1.0\r\n\r\n",
    "two-hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "fragment": b"GET /#?engine=eng HTTP/1.1\r\n" + HEAD + b"\r\n",
    "smuggled-length": b"POST / HTTP/1.1\r\n"
    + HEAD
    + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
}


async def answer_of(rig: Rig, data: bytes) -> Message | None:
    """None when Envoy simply closes the connection, which it may do to nonsense."""
    try:
        return await rig.client.send(data, deadline=10)
    except ConnectionEndedError:
        return None


async def test_given_hostile_requests_when_sent_then_they_are_refused_and_reach_nobody_unintended(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    rig.zone.set("evil.example.com", rig.pods[0].address)
    answers = {name: await answer_of(rig, data) for name, data in HOSTILE.items()}
    assert {name: answer.status for name, answer in answers.items() if answer and answer.status >= 500} == {}
    assert set(rig.zone.lookups) <= {service_host("eng")}
    assert {each.headers["host"] for each in rig.ledger.executions} <= {f"{service_host('eng')}:3473"}
    assert rig.envoy.complaints() == []
    assert (await rig.client.query("/?id=after")).status == 200


def without_the_script(bootstrap: Manifest) -> None:
    """As if the script failed on every request, before it changed anything."""
    filters = connection_manager(bootstrap)["http_filters"]
    script = next(each for each in filters if each["name"] == "envoy.filters.http.lua")
    script["typed_config"]["default_source_code"]["inline_string"] = 'function envoy_on_request(h) error("broken") end'


async def test_given_a_failing_script_when_asked_then_no_host_of_the_senders_choice_is_reached(
    start_rig: StartRig,
) -> None:
    async with start_rig(change=without_the_script) as rig:
        rig.point("eng", await rig.generation(1))
        rig.zone.set("evil.example.com", rig.pods[0].address)
        for host in ("evil.example.com:3473", "evil.example.com", f"{rig.pods[0].address}:3473", ""):
            assert (await rig.client.send(request("/", "eng", host))).status in {400, 404}
        assert rig.ledger.executions == []
        assert not rig.zone.lookups


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"x-envoy-retry-on": "5xx", "x-envoy-max-retries": "5"}, id="retries"),
        pytest.param({"x-envoy-retry-on": "5xx", "x-forwarded-for": "10.0.0.1"}, id="retries-as-if-from-inside"),
        pytest.param(
            {"x-envoy-upstream-rq-per-try-timeout-ms": "50", "x-envoy-hedge-on-per-try-timeout": "true"}, id="hedging"
        ),
    ],
)
async def test_given_orders_for_envoy_in_a_query_when_sent_then_they_are_ignored(
    rig: Rig, headers: dict[str, str]
) -> None:
    pods = await rig.generation(2)
    rig.point("eng", pods)
    for pod in pods:
        pod.status = 503
    assert (await rig.client.query("/?id=once&delay=0.3", headers=headers)).status == 503
    assert rig.ledger.counts["once"] == 1


async def test_given_settings_in_the_query_string_when_sent_then_they_reach_the_engine(rig: Rig) -> None:
    rig.point("eng", await rig.generation(1))
    await rig.client.send(request("/?query_label=x%20y&engine=eng&output_format=JSON_Compact", None))
    assert [each.target for each in rig.ledger.executions] == ["/?query_label=x%20y&output_format=JSON_Compact"]


async def test_given_a_probe_when_sent_then_no_engine_is_asked(start_rig: StartRig) -> None:
    async with start_rig(wake=True) as rig:
        assert (await rig.client.get("/healthz")).status == 200
        assert (await rig.client.get("/healthz?x=1")).status == 200
        assert (await rig.client.get("/healthz/")).status == 400
        assert not rig.agent.asked
