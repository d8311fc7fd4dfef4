"""When is the wake agent asked, and what follows from its answer?"""

import pytest

from tests.support.lua_harness import HoldCall, Reply, Worker

HOLD = HoldCall("wake_agent", "/hold?engine=eng", 125_000)
REFUSAL = Reply({":status": "503", "retry-after": "10"}, "engine is not available; retry shortly")


def a_worker(agent_says: dict[str, str] | None) -> Worker:
    worker = Worker(wake=True)
    worker.agent_says = agent_says
    return worker


def decision(status: str, word: str) -> dict[str, str]:
    return {":status": status, "x-firebolt-wake-decision": word}


@pytest.mark.parametrize(
    "agent_says",
    [
        pytest.param(decision("200", "ready"), id="ready"),
        pytest.param(decision("200", "released"), id="released"),
        pytest.param(decision("200", "unsynced"), id="unsynced"),
        pytest.param({":status": "503"}, id="agent-unreachable-so-envoy-made-up-a-503"),
        pytest.param({":status": "404"}, id="not-the-hold-endpoint"),
        pytest.param({}, id="no-status"),
        pytest.param(None, id="no-answer"),
    ],
)
def test_when_the_agent_does_not_refuse_then_the_query_goes_on(agent_says: dict[str, str] | None) -> None:
    outcome = a_worker(agent_says).request("/?engine=eng")
    assert outcome.reply is None
    assert outcome.holds == [HOLD]
    assert outcome.headers[":authority"] == "eng-service.ns.svc.cluster.local:3473"


@pytest.mark.parametrize(
    "agent_says",
    [
        pytest.param(decision("503", "shed"), id="shed"),
        pytest.param(decision("503", "timeout"), id="timeout"),
        pytest.param(decision("400", "rejected"), id="rejected"),
        pytest.param({"x-firebolt-wake-decision": "timeout"}, id="decision-without-status"),
    ],
)
def test_when_the_agent_refuses_then_so_does_the_gateway(agent_says: dict[str, str]) -> None:
    assert a_worker(agent_says).request("/?engine=eng").reply == REFUSAL


@pytest.mark.parametrize(
    ("agent_says", "reply"),
    [
        pytest.param(decision("404", "missing"), Reply({":status": "404"}, "no such engine"), id="missing"),
        pytest.param(
            decision("503", "stopped"), Reply({":status": "503"}, "engine is stopped by its owner"), id="stopped"
        ),
    ],
)
def test_when_waiting_would_not_help_then_the_gateway_says_why_and_not_to_retry(
    agent_says: dict[str, str], reply: Reply
) -> None:
    assert a_worker(agent_says).request("/?engine=eng").reply == reply


def test_when_no_engine_is_selected_then_nobody_is_asked() -> None:
    outcome = a_worker(None).request("/")
    assert outcome.reply is not None
    assert outcome.holds == []


def asked_at(worker: Worker, milliseconds: int) -> list[int]:
    """When the agent is asked if a query comes every millisecond."""
    asked: list[int] = []
    for millisecond in range(milliseconds):
        worker.now_ms += 1
        asked += [millisecond] * len(worker.request("/", "eng").holds)
    return asked


def test_when_an_engine_was_just_ready_then_one_query_in_200_milliseconds_asks_for_all() -> None:
    assert asked_at(a_worker(decision("200", "ready")), 600) == [0, 200, 400]


@pytest.mark.parametrize("later", [decision("200", "released"), {":status": "503"}])
def test_when_the_renewal_does_not_say_ready_then_the_memory_ends_after_a_quarter_second(later: dict[str, str]) -> None:
    worker = a_worker(decision("200", "ready"))
    worker.request("/", "eng")
    worker.agent_says = later
    assert asked_at(worker, 253) == [199, 249, 250, 251, 252]


def test_when_one_engine_is_ready_then_another_is_asked_for() -> None:
    worker = a_worker(decision("200", "ready"))
    worker.request("/", "eng")
    assert worker.request("/", "other").holds == [HoldCall("wake_agent", "/hold?engine=other", 125_000)]


@pytest.mark.parametrize("word", ["released", "unsynced"])
def test_when_the_agent_did_not_say_ready_then_it_is_asked_every_time(word: str) -> None:
    worker = a_worker(decision("200", word))
    assert [worker.request("/", "eng").holds for _ in range(3)] == [[HOLD]] * 3


def test_when_the_clock_is_set_back_then_the_memory_ends() -> None:
    worker = a_worker(decision("200", "ready"))
    worker.request("/", "eng")
    worker.now_ms -= 3_600_000
    assert worker.request("/", "eng").holds == [HOLD]


def test_when_names_never_end_then_the_memory_stays_bounded_and_right() -> None:
    worker = a_worker(decision("200", "ready"))
    for number in range(3000):
        assert len(worker.request("/", f"eng{number}").holds) == 1
    assert worker.request("/", "eng2999").holds == []
    assert len(worker.request("/", "eng0").holds) == 1


def test_when_wake_is_off_then_nobody_is_asked() -> None:
    assert Worker(wake=False).request("/", "eng").holds == []
