import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.act.sweep import Keep, is_candidate, keep_set
from tests.support.engines import UID, a_child, a_status


@pytest.mark.parametrize(
    ("status", "selected", "expected"),
    [
        pytest.param(a_status(), "0", Keep(frozenset({0}), 0), id="at-rest"),
        pytest.param(
            a_status(current_generation=4, active_generation=2, draining_generation=1),
            "2",
            Keep(frozenset({4, 2, 1}), 4),
            id="all-that-the-status-names",
        ),
        pytest.param(
            a_status(current_generation=2, active_generation=-1), "", Keep(frozenset({2}), 2), id="before-the-first"
        ),
        pytest.param(
            a_status(current_generation=3, active_generation=3), "1", Keep(frozenset({3, 1}), 3), id="what-is-routed-to"
        ),
        pytest.param(
            a_status(current_generation=3, active_generation=3),
            "9999",
            Keep(frozenset({3, 9999}), 3),
            id="a-leftover-selector-raises-no-floor",
        ),
        pytest.param(
            a_status(current_generation=3, active_generation=3), "x", Keep(frozenset({3}), 3), id="no-number-is-ignored"
        ),
    ],
)
def test_keep_set(status: EngineStatus, selected: str, expected: Keep) -> None:
    assert keep_set(status, selected) == expected


KEEP = keep_set(a_status(current_generation=5, active_generation=3), "3")


@pytest.mark.parametrize(
    ("generation", "expected"),
    [(0, True), (2, True), (3, False), (4, True), (5, False), (6, False), (None, False)],
)
def test_only_older_generations_that_nobody_wants_are_candidates(generation: int | None, expected: bool) -> None:
    assert is_candidate(a_child("x", generation), KEEP, UID) is expected


def test_what_somebody_else_owns_or_is_going_anyway_is_left_alone() -> None:
    assert not is_candidate(a_child("x", 0, owner="another"), KEEP, UID)
    assert not is_candidate(a_child("x", 0, deleting=True), KEEP, UID)


def test_before_the_first_generation_is_noted_the_one_being_made_is_no_candidate() -> None:
    nothing_yet = keep_set(a_status(current_generation=-1, active_generation=-1), "")
    assert not is_candidate(a_child("x", 0), nothing_yet, UID)
