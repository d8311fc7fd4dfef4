"""Is a schedule window open? Wall-clock time in the zone of the schedule."""

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo

from firebolt_operator.api.engine_settings import ScheduleWindow

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def is_open(windows: Iterable[ScheduleWindow], now: datetime, zone: tzinfo) -> bool:
    local = now.astimezone(zone)
    return any(_contains(window, local) for window in windows)


def _contains(window: ScheduleWindow, local: datetime) -> bool:
    start, end = minute_of_day(window.start), minute_of_day(window.end)
    if start is None or end is None or start == end:
        # A window without length never pins an engine for a whole day.
        return False
    minute = local.hour * 60 + local.minute
    if start < end:
        return start <= minute < end and _is_on(window, local)
    if minute >= start:
        return _is_on(window, local)
    # After midnight a window belongs to the day on which it began.
    return minute < end and _is_on(window, local - timedelta(days=1))


def _is_on(window: ScheduleWindow, day: datetime) -> bool:
    return not window.days or WEEKDAYS[day.weekday()] in window.days


def minute_of_day(text: str) -> int | None:
    """HH:MM; None for anything else."""
    hours, colon, minutes = text[:2], text[2:3], text[3:]
    if len(text) != 5 or colon != ":" or not (hours + minutes).isascii() or not (hours + minutes).isdigit():
        return None
    if int(hours) > 23 or int(minutes) > 59:
        return None
    return int(hours) * 60 + int(minutes)
