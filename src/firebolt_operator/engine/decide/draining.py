"""When may a generation that no longer serves be deleted?"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.answers import Activity, Answers
from firebolt_operator.engine.facts import DrainVerdict, EngineFacts
from firebolt_operator.engine.inherited_settings import (
    effective_drain_check_enabled,
    effective_drain_interval,
    effective_drain_timeout,
    effective_rollout,
)
from firebolt_operator.engine.inputs import ClassInfo

PARKED_SETTLE = timedelta(seconds=3)
NOTHING = timedelta(0)
IDLENESS_HOLDS: Final = timedelta(seconds=30)  # after the question; whoever comes later to it asks again


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainRules:
    is_skipped: bool  # rollout: recreate, or the drain check turned off
    interval: timedelta  # between two looks at the pods
    timeout: timedelta | None  # None waits for ever
    settle: timedelta  # shortest wait after the switch


@dataclass(frozen=True, slots=True)
class KeepWaiting:
    wait: timedelta  # until the next look
    until: datetime | None  # known when only time is missing


@dataclass(frozen=True, slots=True)
class TimedOut:
    after: timedelta
    is_settled: bool  # False: it ended before the pods were asked at all


@dataclass(frozen=True, slots=True)
class Drained:
    reason: str


def effective_settle(facts: EngineFacts, rules: DrainRules) -> timedelta:
    """With nobody serving, the hold and not DNS decides what happens to a query, so a short wait is enough."""
    return min(rules.settle, PARKED_SETTLE) if facts.active.replicas == 0 else rules.settle


def settle_left(status: EngineStatus, facts: EngineFacts, rules: DrainRules, now: datetime) -> timedelta:
    """Time until resolvers have surely forgotten the old pods; nothing to forget without pods."""
    if not facts.draining.running_pods and facts.draining.pods.total == 0:
        return NOTHING
    settle = effective_settle(facts, rules)
    if status.switched_at is None or settle == NOTHING:
        return settle
    return max(NOTHING, status.switched_at + settle - now)


def needs_probe(status: EngineStatus, facts: EngineFacts, rules: DrainRules, now: datetime) -> bool:
    """Pods are asked only when their answer would end the wait."""
    if rules.is_skipped or facts.draining.statefulset is None or _is_timed_out(status, rules, now):
        return False
    return settle_left(status, facts, rules, now) == NOTHING


def judge_answers(
    answers: Answers | None, status: EngineStatus, facts: EngineFacts, rules: DrainRules, now: datetime
) -> DrainVerdict | None:
    """None while it is not known. A pod that cannot be asked may still be busy: a problem to show, never a drained one.

    Only what was asked after the settle time counts: before, a query could still come to a pod that had none.
    """
    pods = facts.draining.busy_pods
    if not pods:
        return DrainVerdict(is_drained=True)
    told = answers.of(pods) if answers else None
    if answers is None or told is None or not _is_asked_in_time(answers.asked_at, status, facts, rules, now):
        return None
    for pod, answer in zip(pods, told, strict=True):
        if isinstance(answer, str):
            problem = f"drain probe failed on pod {pod.name} (gen {status.draining_generation}): {answer}"
            return DrainVerdict(is_drained=False, problem=problem)
    is_idle = all(isinstance(answer, Activity) and answer.is_idle for answer in told)
    return None if is_idle and now - answers.asked_at > IDLENESS_HOLDS else DrainVerdict(is_drained=is_idle)


def _is_asked_in_time(
    asked_at: datetime, status: EngineStatus, facts: EngineFacts, rules: DrainRules, now: datetime
) -> bool:
    return asked_at <= now and settle_left(status, facts, rules, asked_at) == NOTHING


def must_ask(answers: Answers | None, verdict: DrainVerdict | None, rules: DrainRules, now: datetime) -> bool:
    """Nothing is known, or what is known may have changed."""
    if verdict is None or answers is None:
        return verdict is None
    return not verdict.is_drained and now - answers.asked_at >= rules.interval


def decide_drain(
    status: EngineStatus, facts: EngineFacts, rules: DrainRules, now: datetime
) -> Drained | TimedOut | KeepWaiting:
    if rules.is_skipped:
        return Drained("the drain check is off")
    if facts.draining.statefulset is None:
        return Drained("the old generation is gone")
    left = settle_left(status, facts, rules, now)
    if rules.timeout is not None and _is_timed_out(status, rules, now):
        return TimedOut(rules.timeout, is_settled=left == NOTHING)
    if left > NOTHING:
        return KeepWaiting(_sooner(left, _timeout_left(status, rules, now)), now + left)
    if facts.drain is not None and facts.drain.is_drained:
        return Drained("no query is running")
    return KeepWaiting(_sooner(rules.interval, _timeout_left(status, rules, now)), None)


def _is_timed_out(status: EngineStatus, rules: DrainRules, now: datetime) -> bool:
    left = _timeout_left(status, rules, now)
    return left is not None and left <= NOTHING


def _timeout_left(status: EngineStatus, rules: DrainRules, now: datetime) -> timedelta | None:
    if rules.timeout is None or status.switched_at is None:
        return None
    return status.switched_at + rules.timeout - now


def _sooner(wait: timedelta, other: timedelta | None) -> timedelta:
    # A second at least: timers may fire a moment before the instant, and must not spin until it has come.
    return max(timedelta(seconds=1), wait if other is None else min(wait, other))


def effective_drain_rules(spec: EngineSpec, engine_class: ClassInfo | None, settle: timedelta) -> DrainRules:
    recreates = effective_rollout(spec, engine_class) is Rollout.RECREATE
    return DrainRules(
        is_skipped=recreates or not effective_drain_check_enabled(spec, engine_class),
        interval=effective_drain_interval(spec, engine_class),
        timeout=effective_drain_timeout(spec, engine_class),
        settle=settle,
    )
