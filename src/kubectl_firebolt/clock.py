"""What time is it? Asked here and nowhere else."""

import time
from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that asks


def monotonic() -> float:
    return time.monotonic()
