"""The real clock, except that a test may let time pass at once."""

from datetime import datetime, timedelta

from firebolt_operator.runtime.clock import SystemClock


class SkippingClock(SystemClock):
    """Only the wall clock skips: waits of the queue still take as long as they take."""

    def __init__(self) -> None:
        self._skipped = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self._skipped

    def skip(self, time: timedelta) -> None:
        self._skipped += time
