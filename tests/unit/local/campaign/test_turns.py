"""Does a line of what happened under load say it once more, and what may happen to a request at random?"""

import random

import pytest

from firebolt_local.campaign.faults.fault import OF_PROCESSES, Harm
from firebolt_local.campaign.faults.requests import RequestKind, RequestName
from firebolt_local.campaign.load.turns import TURNS, Asked, anything, at_random_line, kill_at, parse_asked
from firebolt_local.campaign.plan import Plan
from firebolt_local.errors import LocalError


def a_plan(*only: str, parts: tuple[str, ...] = ("load",)) -> Plan:
    return Plan(start="op {namespace}", start_leaders="op {namespace}", places=1, only=only, parts=parts)


def test_what_is_printed_can_be_asked_for() -> None:
    rollout, wake = TURNS[0].line(2), TURNS[2].line(0)
    at_random = at_random_line(Asked(seconds=90, seed=4))
    assert (rollout, at_random) == ("load-rollout: kill-after write 3", "load-anything: 90 s of seed 4")
    assert parse_asked([rollout, wake, rollout, at_random]) == Asked((rollout, wake, rollout), 90, 4)
    assert parse_asked([at_random]) == Asked((), 90, 4)


def test_a_line_is_struck_as_often_as_it_is_asked_for() -> None:
    line = TURNS[0].line(0)
    assert [Asked().times(line), Asked((line, line)).times(line), Asked(()).times(line)] == [1, 2, 0]


@pytest.mark.parametrize(
    "line", ["load-sleep: kill-after write 1", "load-park: kill-after write 0", "load-anything: 1"]
)
def test_nothing_else_can(line: str) -> None:
    with pytest.raises(LocalError):
        a_plan(line).check()


def test_a_plan_knows_which_cluster_it_needs() -> None:
    kill, fault = TURNS[0].line(0), "scale: 500 patch services 1"
    assert (a_plan().under_load(), a_plan().is_simulated()) == (Asked(), False)
    assert (a_plan(parts=("faults",)).under_load(), a_plan(parts=("faults",)).is_simulated()) == (None, True)
    assert (a_plan(kill).under_load(), a_plan(kill).is_simulated()) == (Asked((kill,)), False)
    assert (a_plan(fault).under_load(), a_plan(fault).is_simulated()) == (None, True)


def names(verb: str, kind: str, count: int) -> list[RequestName]:
    return [RequestName(RequestKind(verb, kind), nth + 1) for nth in range(count)]


def test_the_write_of_that_number_kills_and_no_other() -> None:
    choose = kill_at(1)
    passed = [*names("get", "pods", 1), *names("update", "leases", 2), *names("patch", "services", 3)]
    struck = [found for name in passed if (found := choose(name))]
    assert [str(each) for each in struck] == ["kill-after patch services 2"]


def test_at_random_everything_happens_but_the_process_lives() -> None:
    choose = anything(random.Random(1))
    passed = [*names("patch", "services", 3000), *names("watch", "pods", 3000), *names("update", "leases", 3000)]
    struck = [found for name in passed if (found := choose(name))]
    assert {each.harm for each in struck} == {*Harm} - OF_PROCESSES - {Harm.GONE}
    assert not any(each.target.of.kind == "leases" for each in struck)
    assert 60 < len(struck) < 180
