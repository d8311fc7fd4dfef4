from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.engine.answers import Activity, Answers, pod_key
from firebolt_operator.engine.decide.draining import (
    Drained,
    DrainRules,
    KeepWaiting,
    TimedOut,
    decide_drain,
    judge_answers,
    must_ask,
    needs_probe,
)
from firebolt_operator.engine.facts import DrainVerdict, EngineFacts, GenerationFacts, PodCount
from tests.support.engines import NOON, SECOND, a_generation, a_status, drain_rules, some_facts

IDLE = DrainVerdict(is_drained=True)
BUSY = DrainVerdict(is_drained=False)


def draining(drain: DrainVerdict | None = IDLE, **fields: Any) -> EngineFacts:
    return some_facts(**{"current": a_generation(1), "draining": a_generation(0), "drain": drain, **fields})


def decide(facts: EngineFacts, rules: DrainRules, *, since_switch: timedelta) -> Drained | TimedOut | KeepWaiting:
    status = a_status(
        phase="draining",
        current_generation=1,
        active_generation=1,
        draining_generation=0,
        switched_at=NOON - since_switch,
    )
    return decide_drain(status, facts, rules, NOON)


@pytest.mark.parametrize(
    ("since_switch", "expected"),
    [
        pytest.param(
            0 * SECOND, KeepWaiting(35 * SECOND, NOON + 35 * SECOND), id="just-switched-waits-the-whole-settle"
        ),
        pytest.param(34 * SECOND, KeepWaiting(SECOND, NOON + SECOND), id="never-a-second-early"),
        pytest.param(35 * SECOND, Drained("no query is running"), id="settled-and-idle-is-drained"),
    ],
)
def test_settle(since_switch: timedelta, expected: Drained | KeepWaiting) -> None:
    assert decide(draining(), drain_rules(), since_switch=since_switch) == expected


def test_given_no_settle_when_idle_then_drained_at_once() -> None:
    assert decide(draining(), drain_rules(settle=0 * SECOND), since_switch=0 * SECOND) == Drained("no query is running")


def test_given_no_settle_then_a_switch_that_was_noted_as_the_next_second_makes_nobody_wait() -> None:
    rules = drain_rules(settle=0 * SECOND)
    assert decide(draining(), rules, since_switch=-SECOND / 2) == Drained("no query is running")


def test_given_a_parked_engine_then_settle_is_three_seconds() -> None:
    parked = a_generation(1, replicas=0)
    facts = draining(current=parked)
    assert decide(facts, drain_rules(), since_switch=2 * SECOND) == KeepWaiting(SECOND, NOON + SECOND)
    assert decide(facts, drain_rules(), since_switch=3 * SECOND) == Drained("no query is running")


def test_given_no_pods_to_forget_then_nothing_settles() -> None:
    facts = draining(draining=a_generation(0, replicas=0))
    assert decide(facts, drain_rules(), since_switch=0 * SECOND) == Drained("no query is running")


@pytest.mark.parametrize(
    "old",
    [
        pytest.param(a_generation(0, running_pods=()), id="not-running-yet-or-any-more"),
        pytest.param(a_generation(0, pods=PodCount()), id="running-though-not-counted"),
    ],
)
def test_given_any_trace_of_pods_then_resolvers_may_still_know_them(old: GenerationFacts) -> None:
    expected = KeepWaiting(35 * SECOND, NOON + 35 * SECOND)
    assert decide(draining(draining=old), drain_rules(), since_switch=0 * SECOND) == expected


def test_given_a_busy_generation_then_it_is_looked_at_every_interval() -> None:
    assert decide(draining(BUSY), drain_rules(interval=7 * SECOND), since_switch=99 * SECOND) == KeepWaiting(
        7 * SECOND, None
    )


def test_given_a_failed_probe_then_it_counts_as_busy() -> None:
    failed = DrainVerdict(is_drained=False, problem="no answer")
    assert decide(draining(failed), drain_rules(), since_switch=99 * SECOND) == KeepWaiting(5 * SECOND, None)


def test_given_a_timeout_then_it_ends_a_busy_drain_and_the_settle() -> None:
    rules = drain_rules(timeout=20 * SECOND)
    assert decide(draining(BUSY), rules, since_switch=20 * SECOND) == TimedOut(20 * SECOND, is_settled=False)
    settled = drain_rules(timeout=20 * SECOND, settle=10 * SECOND)
    assert decide(draining(BUSY), settled, since_switch=20 * SECOND) == TimedOut(20 * SECOND, is_settled=True)
    assert decide(draining(), rules, since_switch=15 * SECOND) == KeepWaiting(5 * SECOND, NOON + 20 * SECOND)


def test_given_a_skipped_check_then_drained_at_once() -> None:
    assert decide(draining(BUSY), drain_rules(is_skipped=True), since_switch=0 * SECOND) == Drained(
        "the drain check is off"
    )


def test_given_the_statefulset_is_gone_then_drained() -> None:
    facts = draining(None, draining=a_generation(0, statefulset=None))
    assert decide(facts, drain_rules(), since_switch=0 * SECOND) == Drained("the old generation is gone")


@pytest.mark.parametrize(
    ("rules", "since_switch", "expected"),
    [
        pytest.param(drain_rules(), 10 * SECOND, False, id="settling-pods-are-not-asked"),
        pytest.param(drain_rules(), 35 * SECOND, True, id="settled-pods-are-asked"),
        pytest.param(drain_rules(is_skipped=True), 35 * SECOND, False, id="nobody-asks-when-the-check-is-off"),
        pytest.param(drain_rules(timeout=30 * SECOND), 35 * SECOND, False, id="nobody-asks-after-the-timeout"),
    ],
)
def test_probe(rules: DrainRules, since_switch: timedelta, expected: bool) -> None:
    status = a_status(phase="draining", draining_generation=0, switched_at=NOON - since_switch)
    assert needs_probe(status, draining(None), rules, NOON) is expected


def answers(*told: Activity | str, asked_ago: timedelta = 0 * SECOND) -> Answers:
    pods = a_generation(0).running_pods
    return Answers(asked_at=NOON - asked_ago, told={pod_key(pod): each for pod, each in zip(pods, told, strict=False)})


def judge(known: Answers | None, facts: EngineFacts | None = None) -> DrainVerdict | None:
    """Forty seconds after the switch, five after the settle time."""
    status = a_status(phase="draining", draining_generation=0, switched_at=NOON - 40 * SECOND)
    return judge_answers(known, status, facts or draining(None), drain_rules(), NOON)


QUIET, WORKING = Activity(0, 0), Activity(1, 0)
SILENT = DrainVerdict(is_drained=False, problem="drain probe failed on pod eng-g0-1 (gen 0): no answer")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param(None, None, id="nobody-was-asked"),
        pytest.param(answers(QUIET, QUIET), IDLE, id="all-are-idle"),
        pytest.param(answers(QUIET, WORKING), BUSY, id="one-is-busy"),
        pytest.param(answers(QUIET, "no answer"), SILENT, id="one-is-silent"),
        pytest.param(answers(QUIET), None, id="one-was-not-asked"),
        pytest.param(answers(QUIET, QUIET, asked_ago=5 * SECOND), IDLE, id="asked-when-it-had-settled"),
        pytest.param(answers(QUIET, QUIET, asked_ago=6 * SECOND), None, id="asked-before-it-had-settled"),
        pytest.param(answers(WORKING, QUIET, asked_ago=6 * SECOND), None, id="busy-before-it-had-settled"),
        pytest.param(answers(QUIET, QUIET, asked_ago=-SECOND), None, id="asked-before-the-clock-went-back"),
    ],
)
def test_answers(known: Answers | None, expected: DrainVerdict | None) -> None:
    assert judge(known) == expected


def test_given_idleness_of_long_ago_then_pods_are_asked_again_and_busy_ones_stay_busy_meanwhile() -> None:
    status = a_status(phase="draining", draining_generation=0, switched_at=NOON - 600 * SECOND)
    for known, expected in (
        (answers(QUIET, QUIET, asked_ago=30 * SECOND), IDLE),
        (answers(QUIET, QUIET, asked_ago=31 * SECOND), None),
        (answers(QUIET, WORKING, asked_ago=31 * SECOND), BUSY),
    ):
        assert judge_answers(known, status, draining(None), drain_rules(), NOON) == expected


def test_given_no_pod_that_could_have_queries_then_nobody_is_asked() -> None:
    verdict = judge(None, draining(None, draining=a_generation(0, replicas=0)))
    assert verdict == IDLE
    assert not must_ask(None, verdict, drain_rules(), NOON)


@pytest.mark.parametrize(
    ("known", "verdict", "expected"),
    [
        pytest.param(None, None, True, id="nothing-is-known"),
        pytest.param(answers(QUIET), None, True, id="what-is-known-does-not-count"),
        pytest.param(answers(QUIET, QUIET, asked_ago=9 * SECOND), IDLE, False, id="idle"),
        pytest.param(answers(WORKING, QUIET, asked_ago=4 * SECOND), BUSY, False, id="busy-a-moment-ago"),
        pytest.param(answers(WORKING, QUIET, asked_ago=5 * SECOND), BUSY, True, id="busy-an-interval-ago"),
    ],
)
def test_who_is_asked(known: Answers | None, verdict: DrainVerdict | None, expected: bool) -> None:
    assert must_ask(known, verdict, drain_rules(), NOON) is expected
