"""How many queries may be held at once? As many as Envoy has memory for: each pins the body that it sent so far."""

from dataclasses import dataclass
from typing import Final

MOST_HOLDS: Final = 100_000
BUDGET_PERCENT: Final = 25  # of Envoy's memory limit may be pinned by holds; as much again is Envoy's own, untouched


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldLimits:
    memory_limit: int  # bytes Envoy may use; 0 means unknown
    per_hold: int  # bytes one held query pins at worst; 0 means unknown
    fallback: int  # holds while either is unknown; negative means any number


def hold_cap(limits: HoldLimits, allocated: int | None) -> int:
    """Negative means any number. Zero means none: that is what a full Envoy gets, and it must not read as "unset"."""
    if limits.memory_limit <= 0 or limits.per_hold <= 0:
        return limits.fallback
    budget = limits.memory_limit * BUDGET_PERCENT // 100
    if allocated is not None:
        budget = min(budget, budget - (allocated - budget))
    return min(max(budget, 0) // limits.per_hold, MOST_HOLDS)


def has_room(held: int, held_for_engine: int, cap: int) -> bool:
    """One engine that does not come, or that somebody floods, leaves half of the room to all others."""
    return cap < 0 or (held < cap and held_for_engine < max(cap // 2, 1))


def has_room_for_strangers(held_by_strangers: int, cap: int) -> bool:
    """Whoever asks for engines that nobody knows leaves three quarters of the room to those who ask for known ones."""
    return cap < 0 or held_by_strangers < max(cap // 4, 1)
