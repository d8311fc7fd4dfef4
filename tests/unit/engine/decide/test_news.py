"""Are people told what happened to an engine: once, and without what only the log may say?"""

from typing import Any

import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import AutoStopReason
from firebolt_operator.engine.decide.autostop import Decision
from firebolt_operator.engine.decide.news import drained, resized, rollout_news
from firebolt_operator.refs import News


def a_status(phase: str, current: int, active: int) -> EngineStatus:
    fields: dict[str, Any] = {"phase": phase, "current_generation": current, "active_generation": active}
    return EngineStatus(**fields)


def told(news: tuple[News, ...]) -> list[str]:
    return [f"{each.reason}: {each.note}" for each in news]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            ("", 0, 0), ("creating", 0, -1), ["GenerationStarted: generation 0 is being made: why"], id="the-first"
        ),
        pytest.param(
            ("stable", 3, 3), ("creating", 4, 3), ["GenerationStarted: generation 4 is being made: why"], id="rolls"
        ),
        pytest.param(
            ("creating", 4, 3),
            ("creating", 5, 3),
            ["GenerationStarted: generation 5 is being made: why"],
            id="abandoned",
        ),
        pytest.param(
            ("creating", 4, -1),
            ("creating", 5, 4),
            ["GenerationStarted: generation 5 is being made: why"],
            id="abandoned-while-it-served-is-no-switch",
        ),
        pytest.param(("creating", 4, 3), ("switching", 4, 3), [], id="ready-is-not-switched"),
        pytest.param(("switching", 4, 3), ("draining", 4, 4), ["Switched: queries go to generation 4"], id="switched"),
        pytest.param(("switching", 0, -1), ("stable", 0, 0), ["Switched: queries go to generation 0"], id="serves"),
        pytest.param(("switching", 4, 3), ("creating", 4, 3), [], id="back-again"),
        pytest.param(("draining", 4, 4), ("cleaning", 4, 4), [], id="the-plan-tells-of-drains"),
        pytest.param(("stable", 4, 4), ("stable", 4, 4), [], id="at-rest"),
    ],
)
def test_rollouts(before: tuple[str, int, int], after: tuple[str, int, int], expected: list[str]) -> None:
    assert told(rollout_news(a_status(*before), a_status(*after), "new generation: why")) == expected


def test_given_drift_then_its_values_stay_in_the_log() -> None:
    why = "new generation: spec.template.spec.containers[engine].env[KEY].value: live 'a', wanted 'b'"
    (news,) = rollout_news(a_status("stable", 3, 3), a_status("creating", 4, 3), why)
    assert news.note == "generation 4 is being made: spec.template.spec.containers[engine].env[KEY].value"


def test_a_drained_generation_is_named_with_the_reason() -> None:
    news = drained(3, "no query is running")
    assert (news.reason, news.note) == ("Drained", "generation 3 is deleted: no query is running")


@pytest.mark.parametrize(
    ("reason", "before", "after", "expected"),
    [
        (AutoStopReason.IDLE, 2, 0, ["Parked: no query for as long as its idle timeout: from 2 to 0 nodes"]),
        (AutoStopReason.WAKE_REQUESTED, 0, 2, ["Woken: a query waits for it: from 0 to 2 nodes"]),
        (AutoStopReason.SCHEDULE_ACTIVE, 0, 2, ["Woken: its schedule is open: from 0 to 2 nodes"]),
        (AutoStopReason.SCHEDULE_ACTIVE, 2, 2, []),
        (AutoStopReason.ACTIVITY_OBSERVED, 2, 2, []),
    ],
)
def test_a_change_of_nodes(reason: AutoStopReason, before: int, after: int, expected: list[str]) -> None:
    decision = Decision(replicas=after, reason=reason, is_activity=False)
    assert told(resized(decision, before)) == expected
