"""How many nodes should an engine have right now? Parks it when it is idle, starts it for a query or a schedule."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from firebolt_operator.api.engine_settings import AutoStop
from firebolt_operator.api.names import AutoStopReason
from firebolt_operator.engine.decide.schedule import is_open

WAKE_LIFETIME = timedelta(minutes=5)
CLOCK_TOLERANCE = timedelta(seconds=60)
ANSWER_LIFETIME = timedelta(seconds=10)  # of idleness alone: an engine that was idle before may have got a query since
IDLE_PRECISION = timedelta(seconds=2)
OF_NODES = frozenset({AutoStopReason.ACTIVITY_OBSERVED, AutoStopReason.SCRAPE_FAILED, AutoStopReason.WAKE_REQUESTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    settings: AutoStop
    idle_timeout: timedelta
    poll_interval: timedelta
    zone: tzinfo | None  # None: an unknown zone or a malformed duration; neither parking nor schedules can be judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    replicas: int  # spec.replicas
    last_activity_at: datetime | None
    wake_requested_at: datetime | None
    wake_handled_at: datetime | None
    active_queries: int | None  # None: could not be told, which is never idleness
    idle_since: datetime | None = None  # as all pods tell themselves; None: some do not
    looked_at: datetime | None  # when the pods were asked for that; None: no answer has come yet
    reason: str = ""  # of the last decision


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    replicas: int
    reason: AutoStopReason
    is_activity: bool  # lastActivityTime moves to now
    active_at: datetime | None = None  # or to this, if that is later than what is known


def decide_autostop(policy: Policy | None, seen: Observation, *, now: datetime) -> Decision:
    """First match wins. A wake goes before "already stopped": every engine that can be woken has no replicas."""
    if policy is None:
        return _keep(seen, AutoStopReason.DISABLED)
    active = policy.settings.active_replicas
    if seen.replicas == 0 and is_fresh(seen.wake_requested_at, seen.wake_handled_at, now=now):
        return _go_to(seen, active, AutoStopReason.WAKE_REQUESTED)
    if policy.zone is not None and is_open(policy.settings.schedule, now, policy.zone):
        return _go_to(seen, active, AutoStopReason.SCHEDULE_ACTIVE)
    if seen.replicas == 0:
        return _keep(seen, AutoStopReason.STOPPED)
    return _decide_running(policy, seen, now)


def _decide_running(policy: Policy, seen: Observation, now: datetime) -> Decision:
    if seen.looked_at is None:
        return _wait_for_answer(seen)
    if seen.active_queries is None:
        # Every failed look pushes the clock on: one quiet answer after a long failure must not park the engine.
        return _keep(seen, AutoStopReason.SCRAPE_FAILED, is_activity=True)
    if seen.active_queries > 0:
        return _keep(seen, AutoStopReason.ACTIVITY_OBSERVED, is_activity=True)
    if seen.last_activity_at is None:
        return _keep(seen, AutoStopReason.INITIALIZING, is_activity=True)
    idle_replicas = policy.settings.idle_replicas
    # Never back: an engine that has just come up gets its whole idle timeout, whatever its pods say.
    active_at = max(seen.last_activity_at, seen.idle_since or seen.last_activity_at)
    is_idle = now - active_at >= policy.idle_timeout
    if is_idle and seen.replicas > idle_replicas and policy.zone is not None:
        return _go_to(seen, idle_replicas, AutoStopReason.IDLE)
    kept = _keep(seen, AutoStopReason.ACTIVITY_OBSERVED)
    # Two clocks differ by fractions: only what is surely later is worth a write.
    return replace(kept, active_at=active_at) if active_at - seen.last_activity_at > IDLE_PRECISION else kept


def _wait_for_answer(seen: Observation) -> Decision:
    """What was said last still holds, unless it was said of an engine without nodes."""
    if seen.last_activity_at is None or seen.reason not in OF_NODES:
        is_new = seen.last_activity_at is None
        return _keep(seen, AutoStopReason.INITIALIZING, is_activity=is_new)
    return _keep(seen, AutoStopReason(seen.reason))


def is_fresh(requested_at: datetime | None, handled_at: datetime | None, *, now: datetime) -> bool:
    """Whether somebody waits for the engine. Neither an old stamp nor one from a clock that runs ahead wakes it."""
    if requested_at is None or requested_at > now + CLOCK_TOLERANCE:
        return False
    is_new = handled_at is None or requested_at > handled_at
    return is_new and now - requested_at < WAKE_LIFETIME


def parse_wake_request(text: str | None) -> datetime | None:
    """RFC 3339 with a zone; anything else wakes nobody."""
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
        # Whole seconds, as the status keeps them: a fraction would make a handled request look new for ever.
        return instant.astimezone(UTC).replace(microsecond=0) if instant.tzinfo else None
    except (ValueError, OverflowError):  # the first or last day of all, in a zone that leads beyond it
        return None


def _keep(seen: Observation, reason: AutoStopReason, *, is_activity: bool = False) -> Decision:
    return Decision(replicas=seen.replicas, reason=reason, is_activity=is_activity)


def _go_to(seen: Observation, replicas: int, reason: AutoStopReason) -> Decision:
    """Coming up from nothing counts as activity: a whole idle timeout passes before the engine can be parked again."""
    return Decision(replicas=replicas, reason=reason, is_activity=seen.replicas == 0 and replicas > 0)
