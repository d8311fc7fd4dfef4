"""What holds of a plan that says nothing else."""

from datetime import timedelta

from firebolt_operator.engine.plan import AT_ONCE, PODS_WAIT, URGENTLY, Plan
from tests.support.engines import a_status


def test_only_what_points_queries_elsewhere_goes_before_the_work_of_others() -> None:
    assert [each.is_urgent for each in (AT_ONCE, URGENTLY)] == [False, True]


def test_pods_are_looked_at_every_five_seconds() -> None:
    assert PODS_WAIT.wait == timedelta(seconds=5)


def test_nothing_is_at_rest_or_waited_for_unless_somebody_found_out() -> None:
    plan = Plan(reason="because", status=a_status(), look_again=AT_ONCE)
    assert (plan.is_at_rest, plan.waiting_for) == (False, "")
    assert (plan.ensures, plan.patches, plan.deletes, plan.warnings) == ((), (), (), ())
