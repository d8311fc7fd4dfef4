"""Which engines keep a rotation from its next step? Only those that would refuse a good token, or need a key that goes.

Judged by what each generation holds that has pods or may get some, not by whether an engine is at rest: one that is
stuck for another reason, and one that is parked, are in nobody's way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from firebolt_operator.api.names import RotationStep
from firebolt_operator.auth.facts import EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import UNKNOWN, HeldKey

UNBORN_GRACE: Final = timedelta(minutes=10)
"""A pass that read the instance before the keys changed has long ended, one way or another."""


@dataclass(frozen=True, slots=True)
class Open:
    pass


@dataclass(frozen=True, slots=True)
class Closed:
    lagging: tuple[str, ...]  # sorted


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Open, as far as a cache can tell: an engine that it does not know yet may hold anything."""


@dataclass(frozen=True, slots=True)
class Unknown:
    problem: str


Gate = Open | Closed | Unconfirmed | Unknown
Hindrance = Callable[[tuple[HeldKey, ...], HeldKey], bool]


def gate(step: RotationStep, key: HeldKey, fleet: Fleet, *, waited: timedelta) -> Gate:
    """`key` is the one that is promoted, retired or removed; `waited` is how long the step has."""
    if fleet.problem:
        return Unknown(fleet.problem)
    lagging = sorted(engine.name for engine in fleet.engines if _lags(step, key, engine, waited))
    if lagging:
        return Closed(tuple(lagging))
    return Open() if fleet.is_live else Unconfirmed()


def _lags(step: RotationStep, key: HeldKey, engine: EngineKeys, waited: timedelta) -> bool:
    if engine.is_unborn and waited < UNBORN_GRACE:
        # Its pods take queries as soon as they are ready, and it may be making them with keys that it read before.
        return True
    return any(_hinders(step, key, generation) for generation in engine.generations)


def _hinders(step: RotationStep, key: HeldKey, generation: GenerationKeys) -> bool:
    held = generation.keys
    return generation.may_run and bool(held) and (UNKNOWN in held or _HINDRANCES[step](held, key))


def _would_refuse(held: tuple[HeldKey, ...], key: HeldKey) -> bool:
    return key not in held


def _signs_with(held: tuple[HeldKey, ...], key: HeldKey) -> bool:
    return held[0].id == key.id


def _needs(held: tuple[HeldKey, ...], key: HeldKey) -> bool:
    return any(each.id == key.id for each in held)


_HINDRANCES: Final[Mapping[RotationStep, Hindrance]] = {
    RotationStep.PROMOTION: _would_refuse,
    RotationStep.RETIRE_ANCHOR: _signs_with,
    RotationStep.REMOVAL: _needs,
}
