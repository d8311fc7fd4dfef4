"""How long does a gateway hold a query, and how long may one of its pods take to leave?"""

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.instance import GatewaySpec


@dataclass(frozen=True, slots=True)
class Range:
    least: timedelta
    most: timedelta
    words: str  # for people


HOLD_RANGE: Final = Range(timedelta(seconds=1), timedelta(minutes=30), "1s to 30m")
DRAIN_RANGE: Final = Range(timedelta(seconds=15), timedelta(hours=24), "15s to 24h")

DELETED_INSTANCE_GRACE: Final = timedelta(seconds=60)
"""What the pods of a gateway get at most once their instance is deleted, however long their own grace is."""


@dataclass(frozen=True, slots=True)
class GatewayTimes:
    hold: timedelta
    drain: timedelta

    @property
    def outlasts_its_instance(self) -> bool:
        """A pod may be ended earlier than it was told when it started, because its instance is deleted."""
        return self.drain > DELETED_INSTANCE_GRACE

    @property
    def drain_seconds(self) -> int:
        """Whole seconds, as Kubernetes counts grace; rounded up, so that nobody gets less than was asked for."""
        return math.ceil(self.drain.total_seconds())


def gateway_times(spec: GatewaySpec) -> GatewayTimes:
    """Raises ValueError; whoever renders has checked before."""
    return GatewayTimes(
        parse_within(spec.hold_timeout, HOLD_RANGE),
        parse_within(spec.drain_timeout, DRAIN_RANGE),
    )


def parse_within(text: str, allowed: Range) -> timedelta:
    duration = parse_duration(text)
    if not allowed.least <= duration <= allowed.most:
        raise ValueError(f'"{text}" is out of range; use {allowed.words}')
    return duration
