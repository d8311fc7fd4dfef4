from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from firebolt_operator.api.engine_settings import ScheduleWindow, Weekday
from firebolt_operator.engine.decide.schedule import is_open, minute_of_day

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def check(window: ScheduleWindow, now: str, zone: tzinfo = UTC) -> bool:
    return is_open([window], at(now), zone)


@pytest.mark.parametrize(
    ("now", "any_day", "wednesday"),
    [
        pytest.param("2026-04-29T21:59", False, False, id="a-minute-early"),
        pytest.param("2026-04-29T22:00", True, True, id="opens-on-the-minute"),
        pytest.param("2026-04-29T23:30", True, True, id="before-midnight"),
        pytest.param("2026-04-30T00:00", True, True, id="midnight-belongs-to-the-day-it-began"),
        pytest.param("2026-04-30T01:30", True, True, id="after-midnight"),
        pytest.param("2026-04-30T02:00", False, False, id="the-end-is-not-included"),
        pytest.param("2026-04-30T22:00", True, False, id="another-day"),
        pytest.param("2026-05-01T01:30", True, False, id="the-tail-of-another-day"),
    ],
)
def test_a_window_over_midnight(now: str, any_day: bool, wednesday: bool) -> None:
    days: list[Weekday] = ["Wed"]
    assert check(ScheduleWindow(start="22:00", end="02:00"), now) is any_day
    assert check(ScheduleWindow(start="22:00", end="02:00", days=days), now) is wednesday


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-04-29T07:59", False),
        ("2026-04-29T08:00", True),
        ("2026-04-29T17:59:59", True),
        ("2026-04-29T18:00", False),
    ],
)
def test_a_window_within_a_day(now: str, expected: bool) -> None:
    assert check(ScheduleWindow(start="08:00", end="18:00"), now) is expected


def test_each_day_of_the_week_is_known_by_its_name() -> None:
    """From Monday, 27 April 2026 on."""
    week: list[Weekday] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    for day in week:
        window = ScheduleWindow(start="08:00", end="18:00", days=[day])
        opened = [other for number, other in enumerate(week, 27) if is_open([window], noon_of_april(number), UTC)]
        assert opened == [day]


def noon_of_april(day: int) -> datetime:
    return datetime(2026, 4, 1, 12, tzinfo=UTC) + timedelta(days=day - 1)


def test_a_window_without_length_is_never_open() -> None:
    assert not check(ScheduleWindow(start="08:00", end="08:00"), "2026-04-29T08:00")


def test_two_halves_make_a_whole_day() -> None:
    halves = [ScheduleWindow(start="00:00", end="12:00"), ScheduleWindow(start="12:00", end="00:00")]
    assert all(is_open(halves, at(f"2026-04-29T{hour:02}:30"), UTC) for hour in range(24))


def test_given_a_zone_then_the_wall_clock_there_counts() -> None:
    window = ScheduleWindow(start="08:00", end="18:00", days=["Wed"])
    assert check(window, "2026-04-29T06:00", BERLIN)
    assert not check(window, "2026-04-29T06:00", UTC)
    assert not check(window, "2026-04-29T16:00", BERLIN)
    assert check(ScheduleWindow(start="20:00", end="23:00", days=["Tue"]), "2026-04-29T01:00", NEW_YORK)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param("2026-03-29T00:59", False, id="01:59-winter-time"),
        pytest.param("2026-03-29T01:00", True, id="03:00-summer-time-is-inside"),
        pytest.param("2026-03-29T01:59", True, id="03:59-summer-time-is-inside"),
        pytest.param("2026-03-29T02:00", False, id="04:00-is-the-end"),
    ],
)
def test_given_the_clock_goes_forward_then_the_missing_hour_is_missing(now: str, expected: bool) -> None:
    assert check(ScheduleWindow(start="02:00", end="04:00"), now, BERLIN) is expected


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param("2026-10-24T23:59", False, id="01:59-summer-time"),
        pytest.param("2026-10-25T00:30", True, id="02:30-for-the-first-time"),
        pytest.param("2026-10-25T01:30", True, id="02:30-for-the-second-time"),
        pytest.param("2026-10-25T02:00", False, id="03:00-is-the-end"),
    ],
)
def test_given_the_clock_goes_back_then_the_double_hour_counts_twice(now: str, expected: bool) -> None:
    assert check(ScheduleWindow(start="02:00", end="03:00"), now, BERLIN) is expected


def test_given_a_malformed_window_then_the_others_still_count() -> None:
    windows = [ScheduleWindow(start="24:00", end="99:99"), ScheduleWindow(start="08:00", end="09:00")]
    assert is_open(windows, at("2026-04-29T08:30"), UTC)


@pytest.mark.parametrize(("text", "expected"), [("00:00", 0), ("23:59", 1439), ("08:30", 510)])
def test_minute_of_day(text: str, expected: int) -> None:
    assert minute_of_day(text) == expected


@pytest.mark.parametrize("text", ["24:00", "12:60", "1:23", "12-34", "abcde", "", "1²:00"])
def test_what_is_no_time(text: str) -> None:
    assert minute_of_day(text) is None
