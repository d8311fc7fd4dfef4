from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from firebolt_operator.api.engine_settings import AutoStop, ScheduleWindow
from firebolt_operator.api.names import AutoStopReason
from firebolt_operator.engine.decide.autostop import Decision, Observation, Policy, decide_autostop, parse_wake_request
from tests.support.engines import NOON

MINUTE = timedelta(minutes=1)
OPEN = [ScheduleWindow(start="11:00", end="13:00")]


def policy(*, zone: Any = UTC, **settings: Any) -> Policy:
    defaults: dict[str, Any] = {"enabled": True, "active_replicas": 3, "idle_replicas": 0}
    return Policy(settings=AutoStop(**(defaults | settings)), idle_timeout=30 * MINUTE, poll_interval=MINUTE, zone=zone)


def seen(**fields: Any) -> Observation:
    defaults: dict[str, Any] = {
        "replicas": 3,
        "last_activity_at": NOON - MINUTE,
        "wake_requested_at": None,
        "wake_handled_at": None,
        "active_queries": 0,
        "looked_at": NOON,
    }
    return Observation(**(defaults | fields))


def decision(replicas: int, reason: str, *, activity: bool = False) -> Decision:
    return Decision(replicas=replicas, reason=AutoStopReason(reason), is_activity=activity)


PARKED = {"replicas": 0, "active_queries": None}


@pytest.mark.parametrize(
    ("rules", "observed", "expected"),
    [
        pytest.param(None, seen(), decision(3, "Disabled"), id="off"),
        pytest.param(policy(), seen(**PARKED), decision(0, "Stopped"), id="parked-stays-parked"),
        pytest.param(
            policy(),
            seen(active_queries=1, last_activity_at=NOON - 60 * MINUTE),
            decision(3, "ActivityObserved", activity=True),
            id="one-query-is-activity",
        ),
        pytest.param(
            policy(active_replicas=1),
            seen(**PARKED, wake_requested_at=NOON),
            decision(1, "WakeRequested", activity=True),
            id="one-node-that-comes-up-is-activity",
        ),
        pytest.param(
            policy(schedule=OPEN), seen(replicas=1), decision(3, "ScheduleActive"), id="more-nodes-are-no-activity"
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON),
            decision(3, "WakeRequested", activity=True),
            id="a-query-wakes",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON - 5 * MINUTE + timedelta(seconds=1)),
            decision(3, "WakeRequested", activity=True),
            id="a-stamp-just-under-five-minutes-old-wakes",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON - 5 * MINUTE),
            decision(0, "Stopped"),
            id="five-minutes-is-stale",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON + MINUTE),
            decision(3, "WakeRequested", activity=True),
            id="a-minute-ahead-is-skew",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON + MINUTE + timedelta(seconds=1)),
            decision(0, "Stopped"),
            id="further-ahead-wakes-nobody",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON - MINUTE, wake_handled_at=NOON - MINUTE),
            decision(0, "Stopped"),
            id="a-handled-stamp-wakes-nobody-again",
        ),
        pytest.param(
            policy(),
            seen(**PARKED, wake_requested_at=NOON, wake_handled_at=NOON - MINUTE),
            decision(3, "WakeRequested", activity=True),
            id="a-newer-stamp-wakes",
        ),
        pytest.param(
            policy(),
            seen(replicas=5, wake_requested_at=NOON),
            decision(5, "ActivityObserved"),
            id="a-stamp-never-resizes",
        ),
        pytest.param(
            policy(schedule=OPEN),
            seen(**PARKED),
            decision(3, "ScheduleActive", activity=True),
            id="a-window-starts-the-engine",
        ),
        pytest.param(
            policy(schedule=OPEN), seen(replicas=5), decision(3, "ScheduleActive"), id="a-window-sets-the-size"
        ),
        pytest.param(
            policy(),
            seen(active_queries=None),
            decision(3, "ScrapeFailed", activity=True),
            id="not-knowing-is-not-idle",
        ),
        pytest.param(policy(), seen(active_queries=2), decision(3, "ActivityObserved", activity=True), id="busy"),
        pytest.param(
            policy(),
            seen(last_activity_at=None),
            decision(3, "Initializing", activity=True),
            id="first-look-gives-grace",
        ),
        pytest.param(
            policy(), seen(last_activity_at=NOON - 30 * MINUTE), decision(0, "Idle"), id="idle-exactly-at-the-timeout"
        ),
        pytest.param(
            policy(),
            seen(last_activity_at=NOON - 30 * MINUTE + timedelta(seconds=1)),
            decision(3, "ActivityObserved"),
            id="not-a-second-early",
        ),
        pytest.param(
            policy(idle_replicas=3),
            seen(last_activity_at=NOON - 60 * MINUTE),
            decision(3, "ActivityObserved"),
            id="small-enough",
        ),
        pytest.param(
            policy(idle_replicas=2),
            seen(replicas=1, last_activity_at=NOON - 60 * MINUTE),
            decision(1, "ActivityObserved"),
            id="idleness-never-raises",
        ),
        pytest.param(
            policy(),
            seen(last_activity_at=NOON + 60 * MINUTE),
            decision(3, "ActivityObserved"),
            id="a-clock-ahead-is-not-idle",
        ),
        pytest.param(
            policy(zone=None, schedule=OPEN),
            seen(last_activity_at=NOON - 60 * MINUTE),
            decision(3, "ActivityObserved"),
            id="an-unknown-zone-parks-nothing",
        ),
        pytest.param(
            policy(zone=None, schedule=OPEN),
            seen(**PARKED),
            decision(0, "Stopped"),
            id="an-unknown-zone-has-no-windows",
        ),
        pytest.param(
            policy(zone=None),
            seen(**PARKED, wake_requested_at=NOON),
            decision(3, "WakeRequested", activity=True),
            id="an-unknown-zone-still-wakes",
        ),
    ],
)
def test_decision(rules: Policy | None, observed: Observation, expected: Decision) -> None:
    assert decide_autostop(rules, observed, now=NOON) == expected


instants = st.none() | st.integers(-7200, 7200).map(lambda seconds: NOON + timedelta(seconds=seconds))


@given(
    replicas=st.integers(0, 6),
    active=st.integers(1, 5),
    idle=st.integers(0, 5),
    queries=st.none() | st.integers(0, 3),
    stamps=st.tuples(instants, instants, instants),
    has_window=st.booleans(),
    has_zone=st.booleans(),
)
def test_every_decision_is_well_formed_and_never_stops_a_busy_engine(  # noqa: PLR0917 - one for each thing drawn
    replicas: int,
    active: int,
    idle: int,
    queries: int | None,
    stamps: tuple[datetime | None, datetime | None, datetime | None],
    has_window: bool,
    has_zone: bool,
) -> None:
    rules = policy(
        active_replicas=max(active, idle),
        idle_replicas=idle,
        schedule=OPEN if has_window else [],
        zone=UTC if has_zone else None,
    )
    observed = seen(
        replicas=replicas,
        active_queries=queries,
        last_activity_at=stamps[0],
        wake_requested_at=stamps[1],
        wake_handled_at=stamps[2],
    )
    found = decide_autostop(rules, observed, now=NOON)
    assert found.replicas >= 0
    assert found.reason in AutoStopReason
    if found.replicas < replicas and not (has_window and has_zone):
        assert queries == 0
        assert stamps[0] is not None
        assert NOON - stamps[0] >= rules.idle_timeout
    if replicas == 0 and found.replicas > 0:
        assert found.is_activity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-04-29T12:00:00Z", NOON),
        ("2026-04-29T14:00:00+02:00", NOON),
        ("2026-04-29T12:00:00", None),
        ("yesterday", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("2026-04-29T12:00:00+99:99", None),
        ("\ud800", None),
        ("", None),
        (None, None),
    ],
)
def test_wake_requests_are_read_strictly(text: str | None, expected: datetime | None) -> None:
    assert parse_wake_request(text) == expected


CLOCK = st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})", fullmatch=True)


@given(st.one_of(st.text(), CLOCK))
@example("0001-01-01T00:00:00+23:59")
def test_whatever_a_wake_request_says_it_is_read_as_an_instant_or_as_none(text: str) -> None:
    found = parse_wake_request(text)
    assert found is None or found.utcoffset() == timedelta(0)
