"""Stalled and Reconciling: which reason means which, and never both."""

from datetime import UTC, datetime, timedelta

import pytest

from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.kstatus import (
    ENGINE_CLASS_REASONS,
    ENGINE_REASONS,
    Progress,
    Reasons,
    Reconciling,
    Stalled,
    with_progress,
)

NOON = datetime(2026, 4, 29, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)
READY = Condition(type="Ready", status="True", reason="EngineReady", message="", last_transition_time=NOON)


@pytest.mark.parametrize(
    ("reasons", "reason", "expected"),
    [
        *((ENGINE_REASONS, reason, None) for reason in ("EngineReady", "Stopped")),
        *(
            (ENGINE_REASONS, reason, Reconciling(reason, "why"))
            for reason in (
                "Initializing",
                "Rolling",
                "PodsNotReady",
                "InstanceNotReady",
                "DrainCheckFailing",
                "FailedCreate",  # an event of Kubernetes' own
                "Queued",
            )
        ),
        *(
            (ENGINE_REASONS, reason, Stalled(reason, "why"))
            for reason in (
                "SpecInvalid",
                "EngineClassMissing",
                "FireboltEngineClassUnready",
                "TemplateRejected",
                "ResourceBoundsExceeded",
                "EnsureFailed",
                "ProgressDeadlineExceeded",
                "Unreadable",
            )
        ),
        (ENGINE_CLASS_REASONS, "Admissible", None),
        (ENGINE_CLASS_REASONS, "OperatorOwnedFieldSet", Stalled("OperatorOwnedFieldSet", "why")),
        (ENGINE_CLASS_REASONS, "DeletionBlocked", Reconciling("DeletionBlocked", "why")),
    ],
)
def test_what_a_reason_tells(reasons: Reasons, reason: str, expected: Progress) -> None:
    assert reasons.progress(reason, "why") == expected


def told(conditions: list[Condition]) -> list[tuple[str, str, str, datetime, int]]:
    return [
        (each.type, each.reason, each.message, each.last_transition_time, each.observed_generation)
        for each in conditions
        if each.type != "Ready"
    ]


def test_given_progress_then_each_condition_is_there_only_while_it_holds() -> None:
    moving = with_progress([READY], Reconciling("Rolling", "one"), spec_generation=2, now=NOON)
    assert told(moving) == [("Reconciling", "Rolling", "one", NOON, 2)]
    stuck = with_progress(moving, Stalled("SpecInvalid", "two"), spec_generation=3, now=LATER)
    assert told(stuck) == [("Stalled", "SpecInvalid", "two", LATER, 3)]
    moving_again = with_progress(stuck, Reconciling("Rolling", "three"), spec_generation=4, now=LATER)
    assert told(moving_again) == [("Reconciling", "Rolling", "three", LATER, 4)]
    assert with_progress(moving_again, None, spec_generation=4, now=LATER) == [READY]


def test_given_another_reason_then_only_the_words_change() -> None:
    moving = with_progress([], Reconciling("Rolling", "one"), spec_generation=2, now=NOON)
    still = with_progress(moving, Reconciling("PodsNotReady", "two"), spec_generation=3, now=LATER)
    assert told(still) == [("Reconciling", "PodsNotReady", "two", NOON, 3)]


def test_a_message_that_no_status_can_hold_is_cut() -> None:
    (only,) = with_progress([], Stalled("SpecInvalid", "x" * 40_000), spec_generation=2, now=NOON)
    assert only.message == "x" * 32_768
