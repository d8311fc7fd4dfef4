"""The operator's real decisions and writes, explored: every state that can be reached keeps every promise.

What a search allows for is chosen so that it ends, or comes far, within seconds: all of it at once would never end.
`FIREBOLT_MODEL_STATES` lets each visit more states than that.
"""

import os

import pytest

from firebolt_operator.engine.decide import draining
from tests.model import objects
from tests.model.search import Search
from tests.model.starts import DEFAULT, rolling
from tests.model.world import Drain, May, State, initial

DEEPER = int(os.environ.get("FIREBOLT_MODEL_STATES", "0"))
RECREATE, TIMEOUT = Drain(is_skipped=True), Drain(has_timeout=True)


def explore(start: State, most: int) -> Search:
    search = Search(most=max(DEEPER, most), start=start)
    try:
        search.run()
        search.check_rest()
    finally:
        search.passes.close()
    return search


def report(capsys: pytest.CaptureFixture[str], what: str, search: Search) -> None:
    whole = "all of them" if search.is_complete else "the nearest ones"
    with capsys.disabled():
        print(f"\n  {what}: {len(search.came_from):,} states ({whole}), {search.transitions:,} transitions")


@pytest.mark.slow
def test_given_one_edit_then_the_nearest_states_keep_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    """Pods and gates flap, answers are lost, the process dies after every write, watches lag."""
    search = explore(initial()._replace(edits_left=1, births_left=0), most=6_000)
    report(capsys, "one edit", search)


@pytest.mark.slow
def test_given_an_edit_before_the_first_switch_then_no_pod_that_takes_queries_is_deleted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each pod of the first generation takes queries from the moment it is ready, and an edit may come at any time."""
    start = initial(may=May(gates_flip=False, pods_come_singly=True))
    search = explore(start._replace(edits_left=1, births_left=0), most=20_000)
    report(capsys, "an edit before the first switch", search)
    assert search.is_complete


@pytest.mark.slow
def test_given_two_edits_deletion_and_recreation_then_the_nearest_states_keep_every_promise(
    capsys: pytest.CaptureFixture[str],
) -> None:
    search = explore(initial(), most=8_000)
    report(capsys, "two edits, deletion, recreation", search)


@pytest.mark.slow
@pytest.mark.parametrize("drain", [DEFAULT, RECREATE, TIMEOUT], ids=["graceful", "recreate", "time-out"])
def test_given_pods_one_by_one_failed_scrapes_and_refusals_then_a_rollout_keeps_every_promise(
    capsys: pytest.CaptureFixture[str], drain: Drain
) -> None:
    may = May(gates_flip=False, scrapes_fail=True, pods_come_singly=True, writes_be_refused=True)
    search = explore(rolling("creating", drain)._replace(may=may), most=3_000)
    report(capsys, f"pods one by one, {drain}", search)


@pytest.mark.slow
def test_given_answers_from_any_time_then_only_those_after_the_settle_time_count(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long idleness is believed: when it was asked is what counts."""
    monkeypatch.setattr(draining, "IDLENESS_HOLDS", 2 * objects.TIMEOUT)
    may = May(gates_flip=False, scrapes_fail=True, pods_come_singly=True, answers_come_early=True)
    search = explore(rolling("draining")._replace(may=may), most=10_000)
    report(capsys, "answers from any time", search)
    assert search.is_complete


@pytest.mark.slow
def test_given_somebody_who_deletes_or_edits_a_child_then_nothing_else_is_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Any object of the engine, in any phase of a rollout or after it, while every watch lags by itself."""
    search = explore(rolling("creating")._replace(losses_left=1), most=30_000)
    report(capsys, "a loss", search)
    assert search.is_complete


@pytest.mark.slow
@pytest.mark.parametrize("drain", [RECREATE, TIMEOUT], ids=["recreate", "time-out"])
def test_given_a_loss_and_another_way_to_drain_then_nothing_else_is_lost(
    capsys: pytest.CaptureFixture[str], drain: Drain
) -> None:
    search = explore(rolling("creating", drain)._replace(losses_left=1), most=2_500)
    report(capsys, f"a loss, {drain}", search)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["creating", "switching", "draining", "stable"])
def test_given_a_loss_behind_a_closed_gate_then_what_serves_can_be_reached(
    capsys: pytest.CaptureFixture[str], phase: str
) -> None:
    """No instance, no class: nothing can be rendered, and queries find what was rendered before."""
    search = explore(rolling(phase)._replace(losses_left=1, may=May(gates_flip=True)), most=2_500)
    report(capsys, f"a loss and gates that flip, from {phase} on", search)


@pytest.mark.slow
def test_given_a_loss_and_an_edit_while_draining_then_nothing_else_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    search = explore(rolling("draining")._replace(losses_left=1, edits_left=1), most=3_000)
    report(capsys, "a loss and an edit while draining", search)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["creating", "switching", "draining", "cleaning", "stable"])
def test_given_somebody_who_makes_objects_under_our_names_then_they_are_never_touched(
    capsys: pytest.CaptureFixture[str], phase: str
) -> None:
    search = explore(rolling(phase)._replace(strangers_left=1), most=2_000)
    report(capsys, f"a stranger from {phase} on", search)


@pytest.mark.slow
def test_given_a_budget_then_whatever_serves_is_covered_at_every_moment(capsys: pytest.CaptureFixture[str]) -> None:
    """Over a rollout and an edit in the middle of it, with every write lost or its answer, and every crash."""
    search = explore(rolling("creating", has_budget=True)._replace(edits_left=1), most=8_000)
    report(capsys, "a budget", search)


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["switching", "draining", "stable"])
def test_given_a_budget_that_people_meddle_with_then_it_is_put_right_and_theirs_is_left_alone(
    capsys: pytest.CaptureFixture[str], phase: str
) -> None:
    for start in (
        rolling(phase, has_budget=True)._replace(losses_left=1),
        rolling(phase, has_budget=True)._replace(strangers_left=1),
    ):
        search = explore(start, most=1_500)
        report(capsys, f"a budget in other hands from {phase} on", search)


def test_a_search_of_a_small_world_ends() -> None:
    """So that a search which stops early is told from one that saw everything."""
    assert explore(rolling("draining"), most=20_000).is_complete
