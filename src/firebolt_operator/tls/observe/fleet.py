"""Which engines speak TLS, and which of their generations may be spoken to? Their StatefulSets and statuses tell."""

from collections.abc import Iterable, Iterator
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.reconciling.fleet import MadeEngine, MadeFleet
from firebolt_operator.tls.facts import EngineListener, Listeners, TrustBundle

MOST_NAMED: Final = 5  # in a message


def listeners(fleet: MadeFleet) -> Listeners:
    """What cannot be read keeps everything as it is: such an engine may speak either."""
    return Listeners(engines=tuple(map(_listener, fleet.engines)), problem=_problem(fleet.unknown))


def live_generations(fleet: MadeFleet, bundle: TrustBundle) -> frozenset[str]:
    """Names of the Secrets of generations that run, or shall. Of an engine that cannot be read, all that are known."""
    found = {name for made in fleet.engines for name in _generations(made)}
    remembered = frozenset[str]().union(*(known.generations for known in bundle.authorities.values()))
    lost = {name for name in remembered if name.rpartition("-g")[0] in fleet.unknown}
    return frozenset(found | lost)


def _problem(unknown: Iterable[str]) -> str:
    named = sorted(unknown)
    if not named:
        return ""
    more = f" (and {len(named) - MOST_NAMED} more)" if len(named) > MOST_NAMED else ""
    return f"cannot read everything of engine(s) {', '.join(named[:MOST_NAMED])}{more}"


def _serving(status: EngineStatus) -> int:
    """Where the engine's Service leads to."""
    is_switching = EnginePhase(status.phase) is EnginePhase.SWITCHING
    return status.current_generation if is_switching or status.active_generation < 0 else status.active_generation


def _listener(made: MadeEngine) -> EngineListener:
    name, status, serving = made.engine.metadata.name, made.engine.status, _serving(made.engine.status)
    by_name = {each.metadata.name: each for each in made.generations}
    found = by_name.get(names.statefulset_name(name, serving))
    former = {status.active_generation, status.draining_generation} - {serving, None}
    others = (by_name.get(names.statefulset_name(name, number)) for number in former if number is not None)
    return EngineListener(
        name=name,
        tls_hash=found.metadata.annotations.get(names.ANNOTATION_ENGINE_TLS_HASH, "") if found else "",
        is_drained=not any(other is not None and other.may_run for other in others),
        has_pods=found is not None and found.may_run,
    )


def _generations(made: MadeEngine) -> Iterator[str]:
    name, status = made.engine.metadata.name, made.engine.status
    numbered = (status.current_generation, status.active_generation, status.draining_generation)
    for number in numbered:
        if number is not None and number >= 0:
            yield names.engine_tls_name(name, number)
    for each in made.generations:
        label = each.metadata.labels.get(names.LABEL_GENERATION, "")
        if label.isascii() and label.isdigit():
            yield names.engine_tls_name(name, int(label))
