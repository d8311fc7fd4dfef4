"""The disruption budget covers what serves, from before the Service moves until after; and it is nobody else's."""

from typing import Any

import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.resources import POD_DISRUPTION_BUDGETS
from firebolt_operator.engine.decide.budget import NOTHING, BudgetPlan, covered_generations, decide_budget
from firebolt_operator.engine.plan import Delete, Patch
from firebolt_operator.engine.views import Child
from tests.support.engines import UID, NamedBlueprint, a_child, a_status

FIRST = a_status(phase="creating", active_generation=-1, current_generation=0)


def a_budget(most: int | str = 1, **fields: Any) -> Child:
    return a_child("eng-pdb", None, **({"spec": {"maxUnavailable": most}} | fields))


def decided(wanted: int | str | None, found: Child | None, status: EngineStatus | None = None) -> BudgetPlan:
    return decide_budget(wanted, found, status or a_status(), NamedBlueprint(), UID)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(FIRST, {0}, id="the-first-is-reached-while-it-starts"),
        pytest.param(a_status(phase="switching", active_generation=-1, current_generation=2), {2}, id="first-switch"),
        pytest.param(a_status(phase="creating", active_generation=3, current_generation=4), {3}, id="the-old-serves"),
        pytest.param(a_status(phase="switching", active_generation=3, current_generation=4), {3, 4}, id="both"),
        pytest.param(
            a_status(phase="draining", active_generation=4, current_generation=4, draining_generation=3),
            {4},
            id="the-new-serves",
        ),
        pytest.param(a_status(phase="stopped", active_generation=5, current_generation=5), {5}, id="parked"),
    ],
)
def test_whatever_queries_are_sent_to_is_covered(status: EngineStatus, expected: set[int]) -> None:
    assert covered_generations(status) == expected


def test_who_asks_for_none_gets_none() -> None:
    assert decided(None, None) == NOTHING
    assert decided(None, a_budget()) == BudgetPlan(delete=Delete(POD_DISRUPTION_BUDGETS, a_budget()))


@pytest.mark.parametrize("found", [None, a_budget(3)], ids=["missing", "there"])
@pytest.mark.parametrize("wanted", [0, 2, "25%"])
def test_who_asks_for_one_gets_it(wanted: int | str, found: Child | None) -> None:
    assert decided(wanted, found) == BudgetPlan(ensure=NamedBlueprint().disruption_budget({0}, wanted))


def test_somebody_elses_is_left_alone_and_named() -> None:
    stranger = a_budget(owner="another")
    assert decided(None, stranger) == NOTHING
    plan = decided(1, stranger)
    assert (plan.ensure, plan.patch, plan.delete) == (None, None, None)
    assert plan.problem is not None
    assert plan.problem.reason == "EnsureFailed"
    assert "eng-pdb belongs to FireboltEngine eng (uid another); delete or rename it" in plan.problem.message


@pytest.mark.parametrize("wanted", [None, 1])
def test_one_on_its_way_out_is_let_go(wanted: int | None) -> None:
    assert decided(wanted, a_budget(deleting=True)) == NOTHING


def test_an_edit_that_an_apply_could_not_undo_is_patched_away() -> None:
    edited = a_budget(spec={"minAvailable": 1})
    change = {"spec": {"minAvailable": None, "maxUnavailable": 2}}
    assert decided(2, edited) == BudgetPlan(patch=Patch(POD_DISRUPTION_BUDGETS, edited, change))


def test_a_mistake_changes_nothing_but_is_led_along() -> None:
    """What was guarded stays guarded, through switches too."""
    switched = a_status(active_generation=7, current_generation=7)
    kept = BudgetPlan(ensure=NamedBlueprint().disruption_budget({7}, "10%"))
    assert decided("half", a_budget("10%"), switched) == kept
    assert decided("half", None) == NOTHING
