"""Which signing keys do the engines of an instance hold? Their StatefulSets tell, never what engines report."""

from firebolt_operator.api import names
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.auth.facts import EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import UNKNOWN, HeldKey, parse_held_keys
from firebolt_operator.reconciling.fleet import MadeEngine, MadeFleet


def held_keys(fleet: MadeFleet, *, is_live: bool) -> Fleet:
    engines = (*map(_engine_keys, fleet.engines), *map(_unknown, fleet.unknown))
    return Fleet(engines=engines, is_live=is_live)


def _unknown(engine: str) -> EngineKeys:
    """What it holds cannot be told: it is waited for, and named."""
    return EngineKeys(name=engine, generations=(GenerationKeys(keys=(UNKNOWN,), may_run=True),))


def _engine_keys(made: MadeEngine) -> EngineKeys:
    name, status = made.engine.metadata.name, made.engine.status
    generations = tuple(GenerationKeys(keys=_held(each.metadata), may_run=each.may_run) for each in made.generations)
    known = {each.metadata.name for each in made.generations}
    has_none = names.statefulset_name(name, status.current_generation) not in known
    return EngineKeys(name=name, generations=generations, is_unborn=status.active_generation < 0 and has_none)


def _held(metadata: ObjectMeta) -> tuple[HeldKey, ...]:
    listed = metadata.annotations.get(names.ANNOTATION_SIGNING_KEYS, "")
    if not listed and metadata.annotations.get(names.ANNOTATION_AUTH_HASH):
        # Made by an earlier release, which did not write down which keys it used.
        return (UNKNOWN,)
    return parse_held_keys(listed)
