"""What goes over the wire for each answer, and what does the gateway make of it? The two are written apart."""

from dataclasses import dataclass, field

import aiohttp
import pytest

from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.decide.answers import (
    DECISIONS,
    FLAPPED,
    LEAVING,
    MISSING,
    READY,
    REJECTED,
    RELEASED,
    SHED,
    STOPPED,
    TIMED_OUT,
    UNSYNCED,
    Answer,
)
from firebolt_operator.wake.server import hold_app, serving
from tests.support.lua_harness import Reply, Worker

RETRY_SHORTLY = Reply({":status": "503", "retry-after": "10"}, "engine is not available; retry shortly")


@dataclass(frozen=True, slots=True)
class Wire:
    status: int
    decision: str | None
    retry_after: str | None = None
    body: str = ""


@dataclass(slots=True)
class Recorded:
    decisions: list[str] = field(default_factory=list[str])

    def answered(self, decision: str, /) -> None:
        self.decisions.append(decision)

    def caller_left(self) -> None:
        self.decisions.append("caller left")


async def over_the_wire(answer: Answer, recorder: Recorded) -> Wire:
    async def ask(engine: str) -> Answer:
        assert engine == "eng"
        return answer

    app = hold_app(ask, recorder)
    async with (
        serving(app, BindAddress("127.0.0.1", 0)) as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/hold?engine=eng") as got,
    ):
        decision, retry_after = got.headers.get("x-firebolt-wake-decision"), got.headers.get("Retry-After")
        return Wire(got.status, decision, retry_after, await got.text())


@pytest.mark.parametrize(
    ("answer", "wire", "reply"),
    [
        pytest.param(READY, Wire(200, "ready"), None, id="ready"),
        pytest.param(RELEASED, Wire(200, "released"), None, id="released"),
        pytest.param(UNSYNCED, Wire(200, "unsynced"), None, id="unsynced"),
        pytest.param(REJECTED, Wire(400, "rejected", None, "invalid engine name"), RETRY_SHORTLY, id="rejected"),
        pytest.param(SHED, Wire(503, "shed", "5", "gateway wake capacity reached"), RETRY_SHORTLY, id="shed"),
        pytest.param(
            FLAPPED, Wire(503, "timeout", "5", "engine became ready then went away"), RETRY_SHORTLY, id="flapped"
        ),
        pytest.param(
            TIMED_OUT, Wire(503, "timeout", "10", "engine did not become ready"), RETRY_SHORTLY, id="timed-out"
        ),
        pytest.param(LEAVING, Wire(503, "leaving", "1", "gateway is shutting down"), RETRY_SHORTLY, id="leaving"),
        pytest.param(
            MISSING,
            Wire(404, "missing", None, "no such engine"),
            Reply({":status": "404"}, "no such engine"),
            id="missing",
        ),
        pytest.param(
            STOPPED,
            Wire(503, "stopped", None, "stopped by its owner"),
            Reply({":status": "503"}, "engine is stopped by its owner"),
            id="stopped",
        ),
    ],
)
async def test_each_answer_as_envoy_gets_it_and_as_the_client_does(
    answer: Answer, wire: Wire, reply: Reply | None
) -> None:
    recorder = Recorded()
    sent = await over_the_wire(answer, recorder)
    assert sent == wire
    assert recorder.decisions == [wire.decision]
    worker = Worker(wake=True)
    worker.agent_says = {":status": str(sent.status), "x-firebolt-wake-decision": sent.decision or ""}
    assert worker.request("/?engine=eng").reply == reply


def test_every_decision_is_counted_from_the_start_and_none_twice() -> None:
    assert sorted(DECISIONS) == [
        "leaving",
        "missing",
        "ready",
        "rejected",
        "released",
        "shed",
        "stopped",
        "timeout",
        "unsynced",
    ]
