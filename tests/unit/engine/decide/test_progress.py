"""Stalled and Reconciling of an engine, and the deadline of a new generation."""

from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.kstatus import Progress, Reconciling, Stalled
from firebolt_operator.engine.decide.progress import Findings, overdue_generation, overdue_warning, with_findings
from firebolt_operator.engine.facts import ABSENT, GenerationFacts
from firebolt_operator.reconciling.verdicts import Verdict
from tests.support.engines import NOON, a_generation, a_status

SERVES = Verdict(status="True", reason="EngineReady", message="Engine is serving traffic on generation 0")
STOPPED = Verdict(status="False", reason="Stopped", message="stopped")
ROLLS = Verdict(status="False", reason="Rolling", message="on its way")
REFUSED = Verdict(status="False", reason="TemplateRejected", message="hostname")
MEND = Stalled("SpecInvalid", "mend it")
LATE = Stalled("ProgressDeadlineExceeded", "too late")
COMPARING = Reconciling("Rolling", "Engine is serving traffic on generation 0; comparing it with the spec")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(Findings(ready=SERVES, is_at_rest=True), None, id="it-has-arrived"),
        pytest.param(Findings(ready=STOPPED, is_at_rest=True), None, id="a-stop-is-an-arrival"),
        pytest.param(Findings(ready=SERVES), COMPARING, id="whether-the-spec-has-moved-on-is-not-known-yet"),
        pytest.param(Findings(ready=ROLLS), Reconciling("Rolling", "on its way"), id="on-its-way"),
        pytest.param(Findings(ready=REFUSED), Stalled("TemplateRejected", "hostname"), id="refused"),
        pytest.param(Findings(ready=SERVES, to_mend=MEND, is_at_rest=True), MEND, id="serves-with-a-mistake"),
        pytest.param(Findings(ready=REFUSED, to_mend=MEND), MEND, id="mistakes-go-first"),
        pytest.param(Findings(ready=ROLLS, overdue=LATE), LATE, id="overdue"),
        pytest.param(
            Findings(ready=REFUSED, overdue=LATE), Stalled("TemplateRejected", "hostname"), id="the-cause-goes-first"
        ),
        pytest.param(Findings(ready=ROLLS, to_mend=MEND, overdue=LATE), MEND, id="mistakes-before-the-deadline"),
    ],
)
def test_standing(found: Findings, expected: Progress) -> None:
    assert found.progress() == expected


def test_given_findings_then_the_status_speaks_of_that_generation() -> None:
    moving = with_findings(a_status(observed_generation=2), Findings(ready=ROLLS), spec_generation=3, now=NOON)
    assert moving.observed_generation == 3
    assert [(each.type, each.status, each.observed_generation) for each in moving.conditions] == [
        ("Ready", "False", 3),
        ("Reconciling", "True", 3),
    ]
    resting = with_findings(moving, Findings(ready=SERVES, is_at_rest=True), spec_generation=4, now=NOON)
    assert [(each.type, each.status, each.observed_generation) for each in resting.conditions] == [("Ready", "True", 4)]


HOUR = timedelta(hours=1)  # the age of the StatefulSets that the builders make
MOMENT = timedelta(microseconds=1)


def creating(**fields: Any) -> EngineStatus:
    return a_status(**{"phase": "creating", "current_generation": 1, "active_generation": 0} | fields)


@pytest.mark.parametrize(
    ("status", "current", "deadline"),
    [
        pytest.param(creating(), a_generation(1), HOUR + MOMENT, id="in-time"),
        pytest.param(creating(), a_generation(1), None, id="no-limit"),
        pytest.param(creating(), ABSENT, timedelta(0), id="not-begun"),
        pytest.param(creating(current_generation=2), a_generation(1), HOUR, id="a-new-attempt-starts-over"),
        pytest.param(creating(phase="switching"), a_generation(1), HOUR, id="it-was-ready"),
        pytest.param(creating(phase="stable"), a_generation(1), HOUR, id="it-rests"),
    ],
)
def test_not_overdue(status: EngineStatus, current: GenerationFacts, deadline: timedelta | None) -> None:
    assert overdue_generation(status, current, deadline, NOON) is None


@pytest.mark.parametrize(
    ("active", "serving"), [(0, "generation 0 serves"), (-1, "nothing serves yet")], ids=["rollout", "first"]
)
def test_overdue(active: int, serving: str) -> None:
    expected = Stalled(
        "ProgressDeadlineExceeded",
        f"generation 1 is not ready within progressDeadline 1h0m0s; {serving}, and the attempt goes on."
        " Mend what Ready and the pods say, or edit the spec to start over",
    )
    assert overdue_generation(creating(active_generation=active), a_generation(1), HOUR, NOON) == expected
    warning = overdue_warning(expected)
    assert (warning.reason, warning.action, warning.note) == ("ProgressDeadlineExceeded", "Creating", expected.message)
