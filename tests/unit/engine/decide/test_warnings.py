from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.engine.decide.warnings import doubting_verdict, is_worth_asking, refined_verdict
from firebolt_operator.engine.facts import PodCount
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest
from tests.support.engines import a_child, a_generation, some_facts

ROLLING = Verdict(status="False", reason="Rolling", message="Engine is in creating phase")


def event(**fields: Any) -> Manifest:
    defaults = {
        "type": "Warning",
        "reason": "FailedCreate",
        "message": "quota exceeded",
        "lastTimestamp": "2026-04-29T12:00:00Z",
        "count": 3,
    }
    return defaults | fields


def test_the_newest_warning_speaks() -> None:
    older = event(message="old news", lastTimestamp="2026-04-29T11:00:00Z")
    found = refined_verdict(ROLLING, "eng-g0", [older, event()])
    assert found == Verdict(status="False", reason="FailedCreate", message="StatefulSet eng-g0: quota exceeded (x3)")


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([], id="no-event"),
        pytest.param([event(type="Normal")], id="not-a-warning"),
        pytest.param([event(message="  ")], id="no-words"),
    ],
)
def test_without_a_telling_event_nothing_changes(events: list[Manifest]) -> None:
    assert refined_verdict(ROLLING, "eng-g0", events) is ROLLING


@pytest.mark.parametrize(
    "reason", ["", "1leading", "has-dash", "has space", "trailing,", "trailing:", "FailedCreate\n", "A" * 1025]
)
def test_a_reason_that_no_condition_takes_is_replaced(reason: str) -> None:
    assert refined_verdict(ROLLING, "eng-g0", [event(reason=reason)]).reason == "StatefulSetWarning"


def test_times_fall_back_from_last_to_event_to_creation() -> None:
    by_event_time = event(message="second", lastTimestamp=None, eventTime="2026-04-29T12:00:01Z", count=None)
    by_creation = event(
        message="third", lastTimestamp=None, count=None, metadata={"creationTimestamp": "2026-04-29T12:00:02Z"}
    )
    found = refined_verdict(ROLLING, "eng-g0", [by_creation, by_event_time, event()])
    assert found.message == "StatefulSet eng-g0: third (x1)"


def test_events_of_a_series_are_counted_by_it() -> None:
    found = refined_verdict(ROLLING, "eng-g0", [event(count=None, series={"count": 7})])
    assert found.message == "StatefulSet eng-g0: quota exceeded (x7)"


@pytest.mark.parametrize(
    ("verdict", "pods", "age", "expected"),
    [
        pytest.param(ROLLING, 1, 5, True, id="pods-are-missing"),
        pytest.param(ROLLING, 2, 5, False, id="all-pods-exist"),
        pytest.param(ROLLING, 1, 1, False, id="it-has-only-begun"),
        pytest.param(ROLLING, 1, 2, True, id="two-seconds-are-enough"),
        pytest.param(Verdict(status="False", reason="Stopped", message=""), 1, 5, False, id="a-better-reason-is-known"),
        pytest.param(Verdict(status="True", reason="EngineReady", message=""), 1, 5, False, id="all-is-well"),
    ],
)
def test_when_events_are_worth_a_request(verdict: Verdict, pods: int, age: int, expected: bool) -> None:
    facts = some_facts(current=a_generation(0, total=pods))
    assert is_worth_asking(verdict, facts, 2, timedelta(seconds=age)) is expected


def test_a_statefulset_whose_controller_is_busy_elsewhere_has_no_events() -> None:
    statefulset = a_child("eng-g0", is_observed=False)
    facts = some_facts(current=a_generation(0, total=0, statefulset=statefulset))
    assert is_worth_asking(ROLLING, facts, 2, timedelta(minutes=1)) is False


def test_a_parked_statefulset_lacks_no_pods() -> None:
    facts = some_facts(current=a_generation(0, replicas=0))
    assert is_worth_asking(ROLLING, facts, 2, timedelta(minutes=1)) is False


@pytest.mark.parametrize(
    ("verdict", "pods", "age", "expected"),
    [
        pytest.param(ROLLING, PodCount(doubt="eng-g0-0: x"), 25, f"{ROLLING.message}; eng-g0-0: x", id="it-lasts"),
        pytest.param(ROLLING, PodCount(doubt="eng-g0-0: x"), 15, ROLLING.message, id="every-start-looks-like-that"),
        pytest.param(ROLLING, PodCount(doubt="x"), 20, f"{ROLLING.message}; x", id="as-long-as-a-start-may-take"),
        pytest.param(ROLLING, PodCount(doubt="x", trouble="y"), 25, ROLLING.message, id="real-trouble-was-told"),
        pytest.param(ROLLING, PodCount(), 25, ROLLING.message, id="no-doubt"),
        pytest.param(
            Verdict(status="False", reason="Stopped", message="why"), PodCount(doubt="x"), 25, "why", id="better-reason"
        ),
    ],
)
def test_when_a_doubt_is_told(verdict: Verdict, pods: PodCount, age: int, expected: str) -> None:
    assert doubting_verdict(verdict, pods, timedelta(seconds=age)).message == expected
